/* Checks a certificate of Hex whose format is 2 (docs/certificates.md): replies that a virtual connection answers are left
 * out of it, so the connections are found here again. It shares nothing with the program that wrote the file; C99 without
 * anything but its library. check.c is the same for the other games.
 *
 *     cc -O2 -o hex proofs/hex.c && ./hex proofs/NAME.cert...
 *
 * Exit code 0: every file holds; 1: one does not, and the line says where; 2: one could not be read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef struct { u64 s[2]; } Pos; /* the stones of the first and of the second side */

static int size, cells, bits, winner;
static u64 board, left, right, bottom, top; /* the first side wants bottom to top, the second left to right */
static const char *file;
static long layer_number, index_number;
static Pos place;
static u64 bit(int cell) { return (u64)1 << cell; }
static void *need(void *p) { if (!p) { fprintf(stderr, "hex: out of memory\n"); exit(2); } return p; }
static int refuse(const char *why) { /* with the place, drawn from the top row down */
    fprintf(stderr, "%s: WRONG  layer %ld, position %ld: %s\n", file, layer_number, index_number, why);
    for (int row = size - 1; row >= 0; row--) {
        for (int c = row * size; c < (row + 1) * size; c++)
            fputc(place.s[0] & bit(c) ? 'x' : place.s[1] & bit(c) ? 'o' : '.', stderr);
        fputc('\n', stderr);
    }
    return 1;
}

/* The rules. */
static u64 around(u64 x) { /* the neighbours of cells that are not among them */
    u64 l = x & ~left, r = x & ~right;
    return (r << 1 | l >> 1 | x << size | x >> size | l << (size - 1) | r >> (size - 1)) & board & ~x;
}
static u64 flood(u64 from, u64 stones) {
    u64 grown = from & stones;
    do from = grown, grown |= around(grown) & stones; while (grown != from);
    return from;
}
static int connected(Pos p, int side) {
    return (flood(side ? left : bottom, p.s[side]) & (side ? right : top)) != 0;
}
static int play(Pos p, int side, int m, Pos *next) { /* 0 if move number m is not legal */
    int x = m % (size + 2) - 1, y = m / (size + 2) - 1;
    if (x < 0 || x >= size || y < 0 || y >= size || (p.s[0] | p.s[1]) & bit(y * size + x)) return 0;
    return *next = p, next->s[side] |= bit(y * size + x), 1;
}
static Pos turned(Pos p) { /* half a turn */
    Pos m = {{0, 0}};
    for (int c = 0; c < cells; c++)
        m.s[0] |= p.s[0] >> c & 1 ? bit(cells - 1 - c) : 0, m.s[1] |= p.s[1] >> c & 1 ? bit(cells - 1 - c) : 0;
    return m;
}

/* Virtual connections of one side (V. Anshelevich, 2002). Points are its two edges, each with the stones that touch it, then
 * the other groups of stones, then the empty cells. A full connection of two points holds if the other side moves first, a
 * semi connection if its owner does; a carrier is the set of empty cells that it needs. Two full ones that have no cell in
 * common and meet in a group are a full one, in an empty cell a semi one; semi ones that have no cell common to all are a
 * full one. Of every pair only so many are kept: fewer found is never wrong. */
enum { POINTS = 68, FULL = 6, SEMI = 12, JOIN = 4 };
static u64 cell_of[POINTS], full[POINTS][POINTS][FULL], semi[POINTS][POINTS][SEMI];
static int points, fulls[POINTS][POINTS], semis[POINTS][POINTS];
static struct Fresh { int i, j; u64 carrier; } *fresh; /* full ones that have not been looked at */
static size_t fresh_count, fresh_room;
static int within(u64 a, u64 b) { return !(a & ~b); }
static int any_within(const u64 *list, int n, u64 carrier) {
    for (int i = 0; i < n; i++) if (within(list[i], carrier)) return 1;
    return 0;
}
static int without(u64 *list, int n, u64 carrier) { /* takes out those that have all cells of the carrier */
    int kept = 0;
    for (int i = 0; i < n; i++) if (!within(carrier, list[i])) list[kept++] = list[i];
    return kept;
}
static void add_full(int i, int j, u64 carrier) {
    int a = i < j ? i : j, b = i < j ? j : i, *n = &fulls[a][b];
    if (any_within(full[a][b], *n, carrier)) return;
    *n = without(full[a][b], *n, carrier);
    if (*n == FULL) return;
    full[a][b][(*n)++] = carrier;
    semis[a][b] = without(semi[a][b], semis[a][b], carrier);
    if (fresh_count == fresh_room) {
        fresh_room = fresh_room ? 2 * fresh_room : 1024;
        fresh = need(realloc(fresh, fresh_room * sizeof *fresh));
    }
    fresh[fresh_count++] = (struct Fresh){a, b, carrier};
}
static int join(const u64 *list, int n, u64 common, u64 all, int joined, u64 *found, int count) {
    for (int i = 0; i < n; i++) {
        u64 rest = common & list[i];
        if (!rest) found[count++] = all | list[i];
        else if (rest != common && joined + 1 < JOIN)
            count = join(list + i + 1, n - i - 1, rest, all | list[i], joined + 1, found, count);
    }
    return count;
}
static void add_semi(int i, int j, u64 carrier) {
    int a = i < j ? i : j, b = i < j ? j : i, *n = &semis[a][b];
    u64 found[512], before[SEMI];
    if (any_within(full[a][b], fulls[a][b], carrier) || any_within(semi[a][b], *n, carrier)) return;
    *n = without(semi[a][b], *n, carrier);
    if (*n == SEMI) return;
    memcpy(before, semi[a][b], sizeof before);
    int count = join(before, *n, carrier, carrier, 1, found, 0);
    semi[a][b][(*n)++] = carrier;
    for (int k = 0; k < count; k++) add_full(a, b, found[k]);
}
static void meet(int middle, int end, u64 carrier) { /* joins a full one of these to all others of `middle` */
    for (int other = 0; other < points && middle >= 2; other++) {
        if (other == middle || other == end || carrier & cell_of[other]) continue;
        int a = middle < other ? middle : other, b = middle < other ? other : middle;
        for (int k = 0, n = fulls[a][b]; k < n && k < fulls[a][b]; k++) {
            u64 second = full[a][b][k], key = cell_of[middle];
            if (second & (carrier | cell_of[end])) continue;
            if (key) add_semi(end, other, carrier | second | key);
            else add_full(end, other, carrier | second);
        }
    }
}

/* The cells with which the other side may still keep `side` from connecting; none if it has won, whoever is to move. */
static u64 replies(Pos p, int side, int to_move) {
    u64 own = p.s[side], rest = own, must = board, at[POINTS], beside[POINTS];
    points = 0, fresh_count = 0;
    for (int edge = 0; edge < 2; edge++) {
        u64 row = edge ? (side ? right : top) : side ? left : bottom, group = flood(row, rest);
        rest &= ~group, cell_of[points] = 0, at[points] = group, beside[points++] = around(group) | row;
    }
    while (rest) {
        u64 group = flood(rest & -rest, rest);
        rest &= ~group, cell_of[points] = 0, at[points] = group, beside[points++] = around(group);
    }
    for (u64 empty = board & ~(p.s[0] | p.s[1]); empty; empty &= empty - 1)
        cell_of[points] = at[points] = empty & -empty, beside[points] = around(at[points]), points++;
    memset(fulls, 0, sizeof fulls), memset(semis, 0, sizeof semis);
    for (int i = 0; i < points; i++)
        for (int j = i + 1; j < points; j++) if (beside[i] & at[j]) add_full(i, j, 0);
    for (size_t k = 0; k < fresh_count; k++) {
        struct Fresh f = fresh[k];
        int there = 0; /* a smaller one may have come after it */
        for (int n = 0; n < fulls[f.i][f.j]; n++) there |= full[f.i][f.j][n] == f.carrier;
        if (!there) continue;
        meet(f.i, f.j, f.carrier), meet(f.j, f.i, f.carrier);
        if (fulls[0][1] || (to_move == side && semis[0][1])) return 0;
    }
    for (int n = 0; n < semis[0][1]; n++) must &= semi[0][1][n];
    return must;
}

/* A layer: its positions in the order they were met, the moves that led there, and where to find them. */
typedef struct { Pos *pos; unsigned char *last; uint32_t *slots; size_t count, room, mask; } Layer;
static int find(const Layer *l, Pos p, size_t *at) {
    u64 hash = p.s[0] * 0x9e3779b97f4a7c15u ^ (p.s[1] + 0x7f4a7c15u) * 0xc2b2ae3d27d4eb4fu;
    for (*at = (hash ^ hash >> 29 ^ hash >> 47) & l->mask; l->slots[*at]; *at = (*at + 1) & l->mask)
        if (!memcmp(&l->pos[l->slots[*at] - 1], &p, sizeof p)) return 1;
    return 0;
}
static void add(Layer *l, Pos p, int move) {
    size_t at;
    if (l->count * 2 >= l->room) {
        l->room = l->room ? l->room * 2 : 1024, l->mask = l->room - 1;
        l->pos = need(realloc(l->pos, l->room * sizeof *l->pos)), l->last = need(realloc(l->last, l->room));
        free(l->slots), l->slots = need(calloc(l->room, sizeof *l->slots));
        for (size_t i = 0; i < l->count; i++) { find(l, l->pos[i], &at); l->slots[at] = (uint32_t)i + 1; }
    }
    if (find(l, turned(p), &at) || find(l, p, &at)) return;
    l->pos[l->count] = p, l->last[l->count] = move & 63;
    l->slots[at] = (uint32_t)++l->count;
}

/* The file: text, then a range coder's bytes, then eight bytes of checksum. */
static FILE *in;
static unsigned char ahead[8];
static u64 sum;
static uint32_t range, code;
static long beyond; /* bytes that were read and are not there */
static uint16_t *odds;
static int byte(void) { /* the last eight bytes of the file are never given out */
    int c = fgetc(in), out = ahead[0];
    if (c == EOF) { beyond++; return 0; }
    memmove(ahead, ahead + 1, 7), ahead[7] = (unsigned char)c, sum = (sum ^ (u64)out) * 0x100000001b3u;
    return out;
}
static int decode(int context) {
    int node = 1;
    for (int i = 0; i < bits; i++) {
        uint16_t *p = &odds[context << bits | node];
        uint32_t bound = (range >> 12) * *p;
        if (code < bound) range = bound, *p += (4096 - *p) >> 4, node <<= 1;
        else code -= bound, range -= bound, *p -= *p >> 4, node = node << 1 | 1;
        while (range < (uint32_t)1 << 24) range <<= 8, code = code << 8 | (uint32_t)byte();
    }
    return node - (1 << bits);
}
static int check(void) {
    char line[4096], moves[4096] = "", said[4096], who[16] = "", what[32] = "";
    u64 positions = 0, answers = 0, said_positions = 0, said_answers = 0, stored = 0;
    int number = 0, n, c, side = 0, failed = 0;
    sum = 0xcbf29ce484222325u, beyond = 0, layer_number = index_number = 0, bits = size = 0;
    if (fread(ahead, 1, 8, in) != 8) return fprintf(stderr, "%s: too short\n", file), 2;
    do {
        for (n = 0; n < 4095 && (c = byte()) != '\n' && !beyond; n++) line[n] = (char)c;
        line[n] = 0;
        if (number++ == 0 && strcmp(line, "sortie certificate 2"))
            return fprintf(stderr, "%s:1: no certificate of format 2\n", file), 2;
        sscanf(line, "instance = hex/%d", &size);
        if (!strncmp(line, "instance = ", 11) && strspn(line + 11, "hex/12345678") != strlen(line + 11)) size = 0;
        if (!strncmp(line, "moves = ", 8)) strcpy(moves, line + 8);
        sscanf(line, "claim = %15s %31s", who, what);
        sscanf(line, "positions = %" SCNu64, &said_positions), sscanf(line, "answers = %" SCNu64, &said_answers);
        sscanf(line, "bits = %d", &bits);
    } while (n && !beyond);
    winner = !strcmp(who, "second"), cells = size * size;
    if (size < 2 || size > 8 || bits < 1 || bits > 12 || strcmp(what, "wins") || (!winner && strcmp(who, "first")))
        return fprintf(stderr, "%s: it is not known here\n", file), 2;
    board = cells == 64 ? ~(u64)0 : bit(cells) - 1, left = 0;
    for (c = 0; c < cells; c += size) left |= bit(c);
    right = left << (size - 1), bottom = bit(size) - 1, top = bottom << (cells - size);
    Pos p = {{0, 0}}, next;
    strcpy(said, moves);
    for (char *w = strtok(moves, " "); w; w = strtok(NULL, " "), side = !side, p = next)
        if (!play(p, side, (size + 2) * atoi(w + 1) + w[0] - 'a' + 1, &next) || connected(next, side))
            return fprintf(stderr, "%s: '%s' cannot be played\n", file, w), 2;
    odds = need(malloc(sizeof *odds << (bits + 6)));
    for (c = 0; c < 64 << bits; c++) odds[c] = 2048;
    for (c = 0, code = 0, range = 0xffffffffu; c < 4; c++) code = code << 8 | (uint32_t)byte();
    Layer now = {0}, then = {0};
    add(&now, p, 0);
    for (; now.count && !failed; layer_number++, side = !side) {
        for (size_t i = 0; i < now.count && !failed; i++, positions++) {
            Pos here = place = now.pos[index_number = (long)i];
            u64 open = replies(here, winner, side) & ~(here.s[0] | here.s[1]);
            if (!open) continue;
            int wins = 0; /* at once: then nothing is written */
            for (int m = 0; side == winner && m < (size + 2) * (size + 2); m++)
                wins |= play(here, side, m, &next) && connected(next, side);
            if (wins) continue;
            for (int m = 0; m < (size + 2) * (size + 2) && !failed; m++) {
                if (side == winner) {
                    m = decode(now.last[i]), answers++;
                    if (beyond) { failed = refuse("the file ends, and there is no answer here"); break; }
                    if (!play(here, side, m, &next)) { failed = refuse("the answer is not a legal move"); break; }
                } else if (!play(here, side, m, &next) || !((next.s[side] ^ here.s[side]) & open)) continue;
                if (side != winner && connected(next, side)) {
                    place = next, failed = refuse("the game ends otherwise than claimed");
                } else add(&then, next, m);
                if (side == winner) break;
            }
        }
        Layer old = now; now = then, then = old, then.count = 0;
        if (then.slots) memset(then.slots, 0, then.room * sizeof *then.slots);
    }
    for (c = 0; c < 8; c++) stored = stored << 8 | ahead[c];
    if (!failed && stored != sum) failed = refuse("the checksum differs: the file is damaged or longer than its answers");
    if (!failed && (positions != said_positions || answers != said_answers)) failed = refuse("the header counts otherwise");
    if (!failed)
        printf("OK  hex/%d%s%s  %s wins, %" PRIu64 " positions, %" PRIu64 " answers in %ld layers, %016" PRIx64 "  %s\n",
               size, *said ? " after " : "", said, who, positions, answers, layer_number, sum, file);
    free(now.pos), free(now.last), free(now.slots), free(then.pos), free(then.last), free(then.slots), free(odds);
    return failed;
}

int main(int argc, char **argv) {
    int worst = argc < 2 ? 2 : 0;
    for (int i = 1; i < argc; i++) {
        int result = (in = fopen(file = argv[i], "rb")) ? check() : (fprintf(stderr, "%s: cannot be opened\n", file), 2);
        if (in) fclose(in);
        if (result > worst) worst = result;
    }
    return worst;
}
