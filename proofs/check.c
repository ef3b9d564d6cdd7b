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
static int refuse(const char *why) { /* with the place, drawn from the top row down */
    fprintf(stderr, "%s: WRONG  layer %ld, position %ld: %s\n", file, layer_number, index_number, why);
    if (game == NIM) fprintf(stderr, "  heap of %" PRIu64 "\n", place.s[0]);
    for (int row = height - 1; row >= 0 && game != NIM; row--) {
        for (int c = row * width; c < (row + 1) * width; c++)
            fputc(place.s[0] & bit(c) ? 'x' : place.s[1] & bit(c) ? 'o' : '.', stderr);
        fputc('\n', stderr);
    }
    return 1;
}

/* The rules. */
static u64 around(u64 x) { /* the neighbours of cells on a board of hexagons */
    u64 l = x & ~left, r = x & ~right;
    return (r << 1 | l >> 1 | x << width | x >> width | l << (width - 1) | r >> (width - 1)) & board;
}
static u64 flood(u64 from, u64 stones) {
    u64 grown = from & stones;
    do from = grown, grown |= around(grown) & stones; while (grown != from);
    return from;
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
            u64 both = near & around(group), more = both & (both - 1);
            if (more) pair = (both & -both) | (more & -more);
        }
        if (!pair) return 0;
        used |= pair, reached |= group;
    }
}
static int line_of(u64 stones, int length) {
    for (int d = 0; d < 4; d++) {
        u64 run = stones, wrapped = d == 1 ? right : d == 2 ? 0 : left;
        for (int n = 1; n < length; n++) run = stones & run << (d ? width + d - 2 : 1) & ~wrapped;
        if (run) return 1;
    }
    return 0;
}

/* Connect Four: the cells out of some where a stone makes four, and where the next stones fall. */
static u64 fours(u64 stones, u64 cells) {
    u64 found = 0;
    for (; cells; cells &= cells - 1) found |= line_of(stones | (cells & -cells), 4) ? cells & -cells : 0;
    return found;
}
static u64 landing(u64 all) { return (all << width | bottom) & ~all & board; }

/* Whether `side`, which has just moved, wins by answering in the column that the other side plays in: see the document. */
static int follows(Pos p, int side) {
    u64 own = p.s[side], other = p.s[!side], empty = board & ~(own | other);
    u64 rows = bottom | bottom << 2 * width | bottom << 4 * width, four_at = fours(own, empty & rows);
    int odd = 0;
    for (int c = 0; c < width; c++) odd += count(empty & left << c) & 1;
    if (odd % 2 == 0 || !four_at || fours(other, landing(own | other))) return 0;
    for (int c = 0; c < width; c++) {
        u64 begun = empty & left << c, threat = begun & four_at & -(begun & four_at), gets = other;
        if (count(begun) % 2 == 0 || !threat) continue;
        for (int d = 0; d < width; d++) {
            u64 cells = empty & left << d;
            gets |= d == c ? cells & (threat - 1) & ~rows : (cells & rows) | (count(cells) & 1 ? cells & -cells : 0);
        }
        if (!line_of(gets, 4)) return 1;
    }
    return 0;
}

/* Whether `side`, which is to move, wins by stones that must be answered, and then so or by a four. */
static int forces(Pos p, int side) {
    u64 all = p.s[0] | p.s[1], cells = landing(all), stop = fours(p.s[!side], cells);
    if (fours(p.s[side], cells)) return 1;
    if (stop & (stop - 1)) return 0;
    for (cells = stop ? stop : cells; cells; cells &= cells - 1) {
        Pos next = p;
        next.s[side] |= cells & -cells;
        u64 on = landing(all | (cells & -cells)), threat = fours(next.s[side], on);
        if (fours(p.s[!side], on)) continue;
        if (threat & (threat - 1) || follows(next, side)) return 1;
        next.s[!side] |= threat;
        if (threat && forces(next, side)) return 1;
    }
    return 0;
}

/* How the game stands for `winner` after a move of `mover`: -1 goes on, 0 lost, 1 drawn, 2 won. */
static int outcome(Pos p, int mover) {
    int won, good = mover == winner ? 2 : 0;
    if (game == NIM) return p.s[0] ? -1 : good;
    if (game == BREAKTHROUGH) return p.s[mover] & (mover ? bottom : top) || !p.s[!mover] ? good : -1;
    if (game == HEX) won = (flood(mover ? left : bottom, p.s[mover]) & (mover ? right : top)) != 0;
    else won = line_of(p.s[mover], game == CONNECT4 ? 4 : width);
    return won ? good : (p.s[0] | p.s[1]) == board ? 1 : -1;
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
        return next->s[side] ^= bit(from) | bit(to), next->s[!side] &= ~bit(to), 1;
    }
    if (game == CONNECT4) {
        if (m >= width) return 0;
        while (cell < cells && all & bit(cell)) cell += width;
    } else if (game == HEX) {
        int x = m % (width + 2) - 1, y = m / (width + 2) - 1;
        cell = x < 0 || x >= width || y < 0 || y >= height ? cells : y * width + x;
    }
    if (cell >= cells || all & bit(cell)) return 0;
    return next->s[side] |= bit(cell), 1;
}
static Pos mirror(Pos p) { /* the left for the right; Hex: half a turn */
    Pos m = {{0, 0}};
    if (game == NIM || game == TICTACTOE) return p;
    for (int c = 0; c < cells; c++) {
        u64 image = bit(game == HEX ? cells - 1 - c : c / width * width + width - 1 - c % width);
        m.s[0] |= p.s[0] & bit(c) ? image : 0, m.s[1] |= p.s[1] & bit(c) ? image : 0;
    }
    return m;
}
static int finished(Pos p, int to_move) {
    if (goal != 2 || (game != CONNECT4 && game != HEX)) return 0;
    return game == HEX ? hex_bridged(p, winner) : to_move == winner ? forces(p, winner) : follows(p, winner);
}

/* A layer: its positions in the order they were met, the moves that led there, and where to find them. */
typedef struct { Pos *pos; unsigned char *last; uint32_t *slots; size_t count, room, mask; } Layer;
static void *need(void *p) { if (!p) { fprintf(stderr, "check: out of memory\n"); exit(2); } return p; }
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
    if (find(l, mirror(p), &at) || find(l, p, &at)) return;
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
    else if (game == TICTACTOE) m = x < width ? y * width + x : -1;
    else if (game == BREAKTHROUGH && strlen(w) > 4) m = (y * width + x) * 64 + (atoi(w + 4) - 1) * width + w[3] - 'a';
    return m >= 0 && play(p, side, m, next);
}

static int check(void) {
    static const char *names[] = {"connect4", "breakthrough", "hex", "tictactoe", "nim"};
    char line[4096], instance[64] = "", moves[4096] = "", said[4096], name[32] = "", size[32] = "", who[16] = "", what[32] = "";
    u64 positions = 0, answers = 0, said_positions = 0, said_answers = 0, stored = 0;
    int number = 0, n, c, side = 0, failed = 0;
    sum = 0xcbf29ce484222325u, beyond = 0, layer_number = index_number = 0, bits = 0;
    if (fread(ahead, 1, 8, in) != 8) return fprintf(stderr, "%s: too short\n", file), 2;
    do {
        for (n = 0; n < 4095 && (c = byte()) != '\n' && !beyond; n++) line[n] = (char)c;
        line[n] = 0;
        if (number++ == 0 && strcmp(line, "sortie certificate 1")) return fprintf(stderr, "%s:1: no certificate\n", file), 2;
        sscanf(line, "instance = %63s", instance);
        if (!strncmp(line, "moves = ", 8)) strcpy(moves, line + 8);
        sscanf(line, "claim = %15s %31s", who, what);
        sscanf(line, "positions = %" SCNu64, &said_positions), sscanf(line, "answers = %" SCNu64, &said_answers);
        sscanf(line, "bits = %d", &bits);
    } while (n && !beyond);
    n = sscanf(instance, "%31[a-z0-9]/%31s", name, size), c = sscanf(size, "%dx%d", &width, &height);
    for (game = 0; game < 5 && strcmp(name, names[game]); game++) {}
    if (c == 1) height = game == NIM ? 1 : width;
    winner = !strcmp(who, "second"), goal = strcmp(what, "wins") ? 1 : 2, cells = width * height;
    Pos p = {{0, 0}}, next;
    if (n != 2 || game == 5 || strpbrk(size, ":?,") || width < 1 || height < 1 || bits < 1 || bits > 12 ||
        (game != NIM && (width > 8 || height > 8)) || (game == CONNECT4 && (width != 7 || height != 6)) || (!winner && strcmp(who, "first")))
        return fprintf(stderr, "%s: '%s' is not known here\n", file, instance), 2;
    if (game == NIM) p.s[0] = (u64)width, width = 1, cells = 0;
    board = cells == 64 ? ~(u64)0 : bit(cells) - 1, left = 0;
    for (c = 0; c < cells; c += width) left |= bit(c);
    right = left << (width - 1), bottom = bit(width) - 1, top = cells ? bottom << (cells - width) : 0;
    for (c = 0; game == BREAKTHROUGH && c < width * (height > 4 ? 2 : 1); c++) p.s[0] |= bit(c), p.s[1] |= bit(cells - 1 - c);
    /* Replies are tried by all numbers that the game has, whatever the header says of bits. */
    int numbers = game == BREAKTHROUGH ? cells << 6 : game == NIM ? 4 : (width + 2) * (height + 2);
    strcpy(said, moves);
    for (char *w = strtok(moves, " "); w; w = strtok(NULL, " "), side = !side, p = next)
        if (!word(w, p, side, &next) || outcome(next, side) >= 0)
            return fprintf(stderr, "%s: '%s' cannot be played\n", file, w), 2;
    odds = need(malloc(sizeof *odds << (bits + 6)));
    for (c = 0; c < 64 << bits; c++) odds[c] = 2048;
    for (c = 0, code = 0, range = 0xffffffffu; c < 4; c++) code = code << 8 | (uint32_t)byte();
    Layer now = {0}, then = {0};
    add(&now, p, 0);
    for (; now.count && !failed; layer_number++, side = !side) {
        for (size_t i = 0; i < now.count && !failed; i++, positions++) {
            Pos here = place = now.pos[index_number = (long)i];
            int end, done = 0, m, replies = 0;
            if (finished(here, side)) continue;
            for (m = 0; side == winner && m < numbers && !done; m++)
                done = play(here, side, m, &next) && (outcome(next, side) >= goal || finished(next, !side));
            if (done) continue;
            for (m = 0; m < numbers && !failed; m++) {
                if (side == winner) {
                    m = decode(now.last[i]), answers++;
                    if (beyond) { failed = refuse("the file ends, and there is no answer here"); break; }
                    if (!play(here, side, m, &next)) { failed = refuse("the answer is not a legal move"); break; }
                } else if (!play(here, side, m, &next)) continue;
                replies++, end = outcome(next, side);
                if (end >= 0 && end < goal) { place = next; failed = refuse("the game ends otherwise than claimed"); }
                else if (end < 0) add(&then, next, m);
                if (side == winner) break;
            }
            if (!failed && !replies) failed = refuse("nobody can move, and the game is not over");
        }
        Layer old = now; now = then, then = old, then.count = 0;
        if (then.slots) memset(then.slots, 0, then.room * sizeof *then.slots);
    }
    for (c = 0; c < 8; c++) stored = stored << 8 | ahead[c];
    if (!failed && stored != sum) failed = refuse("the checksum differs: the file is damaged or longer than its answers");
    if (!failed && (positions != said_positions || answers != said_answers)) failed = refuse("the header counts otherwise");
    if (!failed)
        printf("OK  %s%s%s  %s %s, %" PRIu64 " positions, %" PRIu64 " answers in %ld layers, %016" PRIx64 "  %s\n",
               instance, *said ? " after " : "", said, who, goal == 2 ? "wins" : "draws at least", positions, answers, layer_number, sum, file);
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
