/* Checks a certificate of Sortie (docs/certificates.md). It shares nothing with the program that wrote it: the rules of
 * Connect Four, Breakthrough, Hex, tic-tac-toe and Nim stand here again, in C99 without anything but its library.
 *
 *     cc -O2 -o check proofs/check.c && ./check proofs/NAME.cert...
 *
 * Exit code 0: every file holds; 1: one does not, and the line says where; 2: one could not be read.
 * The file is read once from front to back; two layers of positions are in memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef struct { u64 s[2]; } Pos; /* the stones of the first and of the second side; Nim: the heap in s[0] */

enum { CONNECT4, BREAKTHROUGH, HEX, TICTACTOE, NIM };
static int game, width, height, cells, bits, winner, goal; /* winner: 0 or 1; goal: 2 wins, 1 draws at least */
static u64 board, left, right, bottom, top;                /* columns and rows; Hex wants bottom to top, left to right */
static const char *file;
static long layer_number, index_number;
static Pos place;

static u64 bit(int cell) { return (u64)1 << cell; }
static int count(u64 x) { int n = 0; for (; x; x &= x - 1) n++; return n; }

static void draw(Pos p) {
    if (game == NIM) { fprintf(stderr, "  heap of %" PRIu64 "\n", p.s[0]); return; }
    for (int row = height - 1; row >= 0; row--) {
        fprintf(stderr, "  ");
        for (int c = row * width; c < (row + 1) * width; c++)
            fputc(p.s[0] & bit(c) ? 'x' : p.s[1] & bit(c) ? 'o' : '.', stderr);
        fputc('\n', stderr);
    }
}

static int refuse(const char *why) {
    fprintf(stderr, "%s: WRONG  layer %ld, position %ld: %s\n", file, layer_number, index_number, why);
    draw(place);
    return 1;
}

/* The rules. */
static u64 around(u64 x) { /* the neighbours of cells on a board of hexagons */
    u64 w = (x & ~right) << 1 | (x & ~left) >> 1 | x << width | x >> width;
    return (w | (x & ~left) << (width - 1) | (x & ~right) >> (width - 1)) & board;
}

static u64 flood(u64 from, u64 stones) {
    u64 grown = from & stones;
    do from = grown, grown |= around(grown) & stones; while (grown != from);
    return from;
}

static int hex_connected(u64 stones, int side) {
    u64 from = side ? left : bottom, to = side ? right : top;
    return (flood(from, stones) & to) != 0;
}

/* Whether a side is connected but for disjoint pairs of empty cells: who loses one of a pair plays the other. */
static int hex_bridged(Pos p, int side) {
    u64 stones = p.s[side], empty = board & ~(p.s[0] | p.s[1]), used = 0;
    u64 from = side ? left : bottom, to = side ? right : top, reached = flood(from, stones);
    for (;;) {
        u64 near = (around(reached) | from) & empty & ~used;
        if (reached & to || count(near & to) >= 2) return 1;
        u64 rest = stones & ~reached, pair = 0, group = 0;
        for (; rest && !pair; rest &= ~group) {
            group = flood(rest & -rest, stones);
            u64 both = near & around(group);
            if (count(both) >= 2) pair = (both & -both) | ((both & (both - 1)) & -(both & (both - 1)));
        }
        if (!pair) return 0;
        used |= pair;
        reached |= group;
    }
}

static int line_of(u64 stones, int length) {
    static const int step[4][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}};
    for (int c = 0; c < cells; c++)
        for (int d = 0; d < 4; d++) {
            int x = c % width, y = c / width, n = 0;
            while (n < length && x >= 0 && x < width && y < height && stones & bit(y * width + x))
                n++, x += step[d][0], y += step[d][1];
            if (n == length) return 1;
        }
    return 0;
}

/* How the game stands for `winner` after a move of `mover`: -1 goes on, 0 lost, 1 drawn, 2 won. */
static int outcome(Pos p, int mover) {
    int won = 0, full = (p.s[0] | p.s[1]) == board, good = mover == winner ? 2 : 0;
    switch (game) {
    case NIM: return p.s[0] ? -1 : good;
    case CONNECT4: won = line_of(p.s[mover], 4); break;
    case TICTACTOE: won = line_of(p.s[mover], width); break;
    case HEX: won = hex_connected(p.s[mover], mover); break;
    case BREAKTHROUGH: return p.s[mover] & (mover ? bottom : top) || !p.s[!mover] ? good : -1;
    }
    return won ? good : full ? 1 : -1;
}

/* The position after move number `m` of `side`; 0 if it is not legal. */
static int play(Pos p, int side, int m, Pos *next) {
    int cell = m;
    u64 all = p.s[0] | p.s[1];
    *next = p;
    if (game == NIM) { next->s[0] -= m; return m >= 1 && m <= 3 && (u64)m <= p.s[0]; }
    if (game == BREAKTHROUGH) {
        int from = m >> 6, to = m & 63, x = to % width - from % width;
        if (from >= cells || to >= cells || to / width - from / width != (side ? -1 : 1) || x < -1 || x > 1) return 0;
        if (!(p.s[side] & bit(from)) || p.s[side] & bit(to) || (x == 0 && all & bit(to))) return 0;
        next->s[side] ^= bit(from) | bit(to);
        next->s[!side] &= ~bit(to);
        return 1;
    }
    if (game == CONNECT4) {
        if (m >= width) return 0;
        while (cell < cells && all & bit(cell)) cell += width;
    } else if (game == HEX) {
        int x = m % (width + 2) - 1, y = m / (width + 2) - 1;
        if (x < 0 || x >= width || y < 0 || y >= height) return 0;
        cell = y * width + x;
    }
    if (cell >= cells || all & bit(cell)) return 0;
    next->s[side] |= bit(cell);
    return 1;
}

static Pos mirror(Pos p) { /* the left for the right; Hex: half a turn */
    Pos m = {{0, 0}};
    if (game == NIM || game == TICTACTOE) return p;
    for (int c = 0; c < cells; c++)
        for (int s = 0; s < 2; s++)
            if (p.s[s] & bit(c)) m.s[s] |= bit(game == HEX ? cells - 1 - c : c / width * width + width - 1 - c % width);
    return m;
}
static int finished(Pos p) { return game == HEX && goal == 2 && hex_bridged(p, winner); }

/* ---- a layer: its positions in the order they were met, and where to find them ---- */

typedef struct { Pos *pos; unsigned char *last; uint32_t *slots; size_t count, room, mask; } Layer;

static void *need(void *p) { if (!p) { fprintf(stderr, "check: out of memory\n"); exit(2); } return p; }
static size_t hash(Pos p) { u64 h = p.s[0] * 0x9e3779b97f4a7c15u ^ (p.s[1] + 0x7f4a7c15u) * 0xc2b2ae3d27d4eb4fu; return h ^ h >> 29 ^ h >> 47; }

static int find(const Layer *l, Pos p, size_t *at) {
    for (*at = hash(p) & l->mask; l->slots[*at]; *at = (*at + 1) & l->mask)
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
    if (find(l, mirror(p), &at) || find(l, p, &at)) return;
    l->pos[l->count] = p, l->last[l->count] = move & 63;
    l->slots[at] = (uint32_t)++l->count;
}

/* ---- the file: text, then a range coder's bytes, then eight bytes of checksum ---- */

static FILE *in;
static unsigned char ahead[8];
static u64 sum;
static uint32_t range, code;
static long beyond;
static uint16_t *odds;

static int byte(void) { /* the last eight bytes of the file are never given out */
    int c = fgetc(in), out = ahead[0];
    if (c == EOF) { beyond++; return 0; }
    memmove(ahead, ahead + 1, 7), ahead[7] = (unsigned char)c;
    sum = (sum ^ (u64)out) * 0x100000001b3u;
    return out;
}

static int decode(int context) {
    int node = 1;
    for (int i = 0; i < bits; i++) {
        uint16_t *p = &odds[((size_t)context << bits) + node];
        uint32_t bound = (range >> 12) * *p;
        if (code < bound) range = bound, *p += (4096 - *p) >> 4, node <<= 1;
        else code -= bound, range -= bound, *p -= *p >> 4, node = node << 1 | 1;
        while (range < (uint32_t)1 << 24) range <<= 8, code = code << 8 | (uint32_t)byte();
    }
    return node - (1 << bits);
}

static int word(char *w, Pos p, int side, Pos *next) { /* a move of the header: d, a2-a3, c4, 3 */
    int x = w[0] - 'a', y = atoi(w + 1) - 1, m = x;
    if (game == NIM) m = atoi(w);
    else if (game == HEX) m = (width + 2) * (y + 1) + x + 1;
    else if (game == TICTACTOE) m = y * width + x;
    else if (game == BREAKTHROUGH && strlen(w) > 4) m = (y * width + x) * 64 + (atoi(w + 4) - 1) * width + w[3] - 'a';
    return m >= 0 && play(p, side, m, next);
}

static int check(void) {
    static const char *names[] = {"connect4", "breakthrough", "hex", "tictactoe", "nim"};
    char line[4096], instance[64] = "", moves[4096] = "", name[32] = "", size[32] = "", side_word[16] = "", rest[32] = "";
    u64 positions = 0, answers = 0, said_positions = 0, said_answers = 0;
    int number = 0, n, c;
    sum = 0xcbf29ce484222325u, beyond = 0, layer_number = index_number = 0, bits = 0;
    if (fread(ahead, 1, 8, in) != 8) { fprintf(stderr, "%s: too short\n", file); return 2; }
    do {
        for (n = 0; n < 4095 && (c = byte()) != '\n' && !beyond; n++) line[n] = (char)c;
        line[n] = 0;
        if (number++ == 0 && strcmp(line, "sortie certificate 1")) { fprintf(stderr, "%s:1: no certificate\n", file); return 2; }
        sscanf(line, "instance = %63s", instance);
        if (!strncmp(line, "moves = ", 8)) strcpy(moves, line + 8);
        sscanf(line, "claim = %15s %31s", side_word, rest);
        sscanf(line, "positions = %" SCNu64, &said_positions);
        sscanf(line, "answers = %" SCNu64, &said_answers);
        sscanf(line, "bits = %d", &bits);
    } while (n && !beyond);
    n = sscanf(instance, "%31[a-z0-9]/%31s", name, size);
    for (game = 0; game < 5 && strcmp(name, names[game]); game++) {}
    c = sscanf(size, "%dx%d", &width, &height);
    if (c == 1 && game != NIM) height = width;
    winner = !strcmp(side_word, "second"), goal = strcmp(rest, "wins") ? 1 : 2, cells = width * height;
    Pos p = {{0, 0}}, next;
    if (game == NIM) p.s[0] = (u64)width, cells = 0;
    if (n != 2 || game == 5 || strpbrk(size, ":?,") || width < 1 || cells > 64 || bits < 1 || bits > 12 ||
        (game == CONNECT4 && (width != 7 || height != 6)) || (!winner && strcmp(side_word, "first"))) {
        fprintf(stderr, "%s: '%s' is not known here\n", file, instance);
        return 2;
    }
    board = cells == 64 ? ~(u64)0 : bit(cells) - 1, left = right = bottom = top = 0;
    for (c = 0; c < cells; c++) {
        if (c % width == 0) left |= bit(c);
        if (c % width == width - 1) right |= bit(c);
        if (c < width) bottom |= bit(c);
        if (c >= cells - width) top |= bit(c);
    }
    for (c = 0; game == BREAKTHROUGH && c < width * (height > 4 ? 2 : 1); c++) p.s[0] |= bit(c), p.s[1] |= bit(cells - 1 - c);
    int side = 0, code_max = 1 << bits;
    for (char *w = strtok(moves, " "); w; w = strtok(NULL, " "), side = !side, p = next)
        if (!word(w, p, side, &next) || outcome(next, side) >= 0) { fprintf(stderr, "%s: '%s' cannot be played\n", file, w); return 2; }
    odds = need(malloc(sizeof *odds << (bits + 6)));
    for (c = 0; c < 64 << bits; c++) odds[c] = 2048;
    range = 0xffffffffu, code = 0;
    for (c = 0; c < 4; c++) code = code << 8 | (uint32_t)byte();
    Layer now = {0}, then = {0};
    int failed = 0;
    add(&now, p, 0);
    for (; now.count && !failed; layer_number++, side = !side) {
        for (size_t i = 0; i < now.count && !failed; i++) {
            Pos here = place = now.pos[i];
            int end, done = 0, m, replies = 0;
            index_number = (long)i, positions++;
            if (finished(here)) continue;
            for (m = 0; side == winner && m < code_max && !done; m++)
                done = play(here, side, m, &next) && (outcome(next, side) >= goal || finished(next));
            if (done) continue;
            for (m = 0; m < code_max && !failed; m++) {
                if (side == winner) {
                    m = decode(now.last[i]), answers++;
                    if (beyond > 4) { failed = refuse("the file ends, and there is no answer here"); break; }
                    if (!play(here, side, m, &next)) { failed = refuse("the answer is not a legal move"); break; }
                } else if (!play(here, side, m, &next)) continue;
                replies++, end = outcome(next, side);
                if (end >= 0 && end < goal) { place = next; failed = refuse("the game ends otherwise than claimed"); }
                else if (end < 0) add(&then, next, m);
                if (side == winner) break;
            }
            if (!failed && !replies) failed = refuse("nobody can move, and the game is not over");
        }
        Layer t = now;
        now = then, then = t, then.count = 0;
        if (then.slots) memset(then.slots, 0, then.room * sizeof *then.slots);
    }
    if (!failed && (byte(), !beyond)) failed = refuse("bytes are left over");
    u64 stored = 0;
    for (c = 0; c < 8; c++) stored = stored << 8 | ahead[c];
    if (!failed && stored != sum) failed = refuse("the checksum differs: the file is damaged");
    if (!failed && (positions != said_positions || answers != said_answers)) failed = refuse("the header counts otherwise");
    if (!failed)
        printf("OK  %s  %s %s, %" PRIu64 " positions, %" PRIu64 " answers in %ld layers, checksum %016" PRIx64 "  %s\n",
               instance, side_word, goal == 2 ? "wins" : "draws at least", positions, answers, layer_number, sum, file);
    free(now.pos), free(now.last), free(now.slots), free(then.pos), free(then.last), free(then.slots), free(odds);
    return failed;
}

int main(int argc, char **argv) {
    int worst = argc < 2 ? 2 : 0;
    for (int i = 1; i < argc; i++) {
        file = argv[i];
        in = fopen(file, "rb");
        int result = in ? check() : (fprintf(stderr, "%s: cannot be opened\n", file), 2);
        if (in) fclose(in);
        worst = result > worst ? result : worst;
    }
    return worst;
}
