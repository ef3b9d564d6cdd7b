/* A wire that takes time: joins two TUN devices, and every packet comes out of one so many microseconds after it went
 * into the other. For kernels without netem. The devices can be moved into network namespaces of their own while it
 * runs, so that whatever is in there sees two hosts that far apart. Used by bench/cluster.sh.
 *
 *     cc -O2 -o wire bench/wire.c && ./wire 500 tun-a tun-b
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { PACKETS = 4096, BYTES = 9216 };

/* One direction: packets in the order they came, each with the time at which it is due. */
struct lane {
    int from, to;
    unsigned head, tail;
    struct { long long due; int length; char bytes[BYTES]; } *packets;
};

static void die(const char *what) {
    fprintf(stderr, "wire: %s: %s\n", what, strerror(errno));
    exit(1);
}

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int device(const char *name) {
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
    if (fd < 0) die("/dev/net/tun");
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    if (ioctl(fd, TUNSETIFF, &request) < 0) die(name);
    return fd;
}

/* Takes in what has come; a packet more than there is room for is lost, as on any wire. */
static void take(struct lane *lane, long long delay) {
    while (lane->tail - lane->head < PACKETS) {
        unsigned slot = lane->tail % PACKETS;
        ssize_t length = read(lane->from, lane->packets[slot].bytes, BYTES);
        if (length <= 0) return;
        lane->packets[slot].length = (int)length;
        lane->packets[slot].due = now() + delay;
        lane->tail++;
    }
}

/* Lets go what is due; when the next will be, if that is sooner than `next`. */
static long long give(struct lane *lane, long long next) {
    for (; lane->head != lane->tail; lane->head++) {
        unsigned slot = lane->head % PACKETS;
        if (lane->packets[slot].due > now()) return lane->packets[slot].due < next ? lane->packets[slot].due : next;
        if (write(lane->to, lane->packets[slot].bytes, lane->packets[slot].length) < 0 && errno == EAGAIN) return now();
    }
    return next;
}

int main(int argc, char **argv) {
    char *end = "";
    long micros = argc == 4 ? strtol(argv[1], &end, 10) : -1;
    if (micros < 0 || *end) {
        fprintf(stderr, "usage: wire MICROSECONDS DEVICE DEVICE\n");
        return 2;
    }
    /* Sleeps end when they are meant to, not up to 50 us later. */
    prctl(PR_SET_TIMERSLACK, 1000);
    int a = device(argv[2]), b = device(argv[3]);
    struct lane lanes[2] = {{.from = a, .to = b}, {.from = b, .to = a}};
    for (int i = 0; i < 2; i++) {
        lanes[i].packets = malloc(PACKETS * sizeof *lanes[i].packets);
        if (!lanes[i].packets) die("memory");
    }
    puts("ready");
    fflush(stdout);
    for (;;) {
        long long next = now() + 1000000000LL;
        for (int i = 0; i < 2; i++) {
            take(&lanes[i], micros * 1000);
            next = give(&lanes[i], next);
        }
        struct pollfd ends[2] = {{.fd = a, .events = POLLIN}, {.fd = b, .events = POLLIN}};
        long long wait = next - now();
        struct timespec timeout = {0, 0};
        if (wait > 0) timeout = (struct timespec){wait / 1000000000LL, wait % 1000000000LL};
        ppoll(ends, 2, &timeout, NULL);
    }
}
