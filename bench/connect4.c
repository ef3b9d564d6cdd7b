/* Values of Connect Four positions by plain alpha-beta with a table: an oracle for instances/connect4/solved.txt that shares
 * nothing with Sortie.
 *   cc -O2 -o connect4 bench/connect4.c && ./connect4 < instances/connect4/solved.txt
 * reads lines "moves = value" (columns a to g; # begins a comment) and says of each whether the value is right.
 *   ./connect4 SEED draws positions instead: two random ones for each number of stones from 8 to 16, without a four to make
 *   or to stop, and writes them down with their values. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { W = 7, H = 6, SLOTS = 1 << 25 };
typedef uint64_t u64;
static const u64 BOTTOM = 0x40810204081ull;

/* Bit 7 * column + row. own: the side to move; all: every stone. */
static struct { u64 key; signed char low, high; } *table;
static const int order[W] = {3, 2, 4, 1, 5, 0, 6};

static int four(u64 b) {
    for (int i = 0; i < 4; i++) {
        int s = (int[]){1, 6, 7, 8}[i];
        u64 pairs = b & b >> s;
        if (pairs & pairs >> 2 * s) return 1;
    }
    return 0;
}

static u64 cell(u64 all, int c) {
    u64 column = (u64)0x3f << 7 * c;
    return (all + ((u64)1 << 7 * c)) & column;
}

/* 1, 0 or -1 for the side to move; fail-soft within alpha and beta. */
static int value(u64 own, u64 all, int alpha, int beta) {
    if (__builtin_popcountll(all) == W * H) return 0;
    u64 other = own ^ all, must = 0;
    for (int c = 0; c < W; c++) {
        u64 m = cell(all, c);
        if (m && four(own | m)) return 1;
        if (m && four(other | m)) {
            if (must) return -1;
            must = m;
        }
    }
    u64 key = own + all + BOTTOM; /* tells all positions apart, and is never 0 */
    u64 slot = (key * 0x9e3779b97f4a7c15ull) >> 39;
    int low = -1, high = 1;
    if (table[slot].key == key) low = table[slot].low, high = table[slot].high;
    if (low >= beta || low == high) return low;
    if (high <= alpha) return high;
    int best = -1, a = alpha > low ? alpha : low, b = beta < high ? beta : high;
    for (int i = 0; i < W && best < b; i++) {
        u64 m = cell(all, order[i]);
        if (!m || (must && m != must)) continue;
        int v = -value(other, all | m, -b, -a);
        if (v > best) best = v;
        if (best > a) a = best;
    }
    if (best <= alpha) { if (best < high) high = best; }
    else if (best >= beta) { if (best > low) low = best; }
    else low = high = best;
    table[slot].key = key, table[slot].low = low, table[slot].high = high;
    return best;
}

static const char *name(int v, int first_to_move) {
    return v == 0 ? "a draw" : (v > 0) == first_to_move ? "first wins" : "second wins";
}

static int check(void) {
    char line[256];
    int wrong = 0;
    while (fgets(line, sizeof line, stdin)) {
        char *end = strchr(line, '=');
        if (line[0] == '#' || !end) continue;
        u64 own = 0, all = 0;
        for (char *p = line; p < end; p++)
            if (*p >= 'a' && *p <= 'g') {
                u64 m = cell(all, *p - 'a'), other = own ^ all;
                all |= m, own = other;
            }
        const char *found = name(value(own, all, -1, 1), __builtin_popcountll(all) % 2 == 0);
        int right = !strncmp(end + 2, found, strlen(found));
        wrong += !right;
        *end = 0;
        printf("%s%s%s\n", line, found, right ? "" : "   NOT as listed");
        fflush(stdout);
    }
    return wrong != 0;
}

static void draw(u64 seed) {
    for (int stones = 8; stones <= 16; stones++)
        for (int n = 0; n < 2;) {
            u64 own = 0, all = 0;
            char words[64] = "";
            int over = 0;
            for (int i = 0; i < stones && !over; i++) {
                seed = seed * 6364136223846793005ull + 1442695040888963407ull;
                int c = (seed >> 33) % W;
                u64 m = cell(all, c), other = own ^ all;
                over = !m || four(own | m);
                all |= m, own = other;
                sprintf(words + 2 * i, "%c ", 'a' + c);
            }
            for (int c = 0; c < W && !over; c++) {
                u64 m = cell(all, c);
                over = m && (four(own | m) || four((own ^ all) | m));
            }
            if (over) continue;
            printf("%s= %s\n", words, name(value(own, all, -1, 1), stones % 2 == 0));
            fflush(stdout);
            n++;
        }
}

int main(int argc, char **argv) {
    table = calloc(SLOTS, sizeof *table);
    if (!table) return 2;
    if (argc > 1) return draw(strtoull(argv[1], 0, 10)), 0;
    return check();
}
