/* SPDX-License-Identifier: MIT */
/* The wait is what tells models apart. select and poll pay for each descriptor they look at,
 * twice when they sleep; epoll for each that is ready; a ring enters the kernel once and hands
 * over reads and writes there, which have prices of their own. A sleep is
 * priced by itself, with what is cold after it, so that the same prices hold for a quiet server
 * and for a busy one. */
#include "session/bill.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

const struct bill_word bill_words[BILL_ITEMS] = {
    [BILL_WAIT] =
        {"wait", true, LOOPBACK_BATCH,
         "Calls of the wait. select and poll pay for every socket they look at, about twice "
         "as much when they find none and sleep; epoll for every socket that is ready."},
    [BILL_SLEEP] = {"sleep", true, LOOPBACK_WAKE,
                    "Times a wait found nothing, by the kernel's count of context switches: the "
                    "switch away and back, and what went cold in the caches meanwhile."},
    [BILL_READ] =
        {"read", true, LOOPBACK_CALL,
         "Calls of recv that found something, priced with 64 bytes. A ring receives without "
         "a call: its price is recv less a bare system call."},
    [BILL_EMPTY] =
        {"read, empty", false, LOOPBACK_CALL,
         "Calls of recv that found nothing: how an edge-triggered server learns that it has "
         "read all."},
    [BILL_WRITE] =
        {"write", true, LOOPBACK_SEND,
         "Calls of send, priced with 1 KiB to a client that is awake, and each further KiB. "
         "A ring sends without a call, at a price of its own."},
    [BILL_CONTROL] =
        {"re-arm", true, LOOPBACK_CALL,
         "Calls of epoll_ctl: adding a connection, or asking anew after each event. Only "
         "epoll has them."},
    [BILL_ACCEPT] = {"accept, close", false, LOOPBACK_CONNECT,
                     "Connections accepted for one request, each of which is closed again."},
    [BILL_WORK] =
        {"client work", false, LOOPBACK_CALL,
         "Work of the program itself on every client at every wake (client_work). It is no part "
         "of the call, however often it is blamed on it."},
    [BILL_REST] =
        {"not explained", true, LOOPBACK_CALL,
         "Measured less the lines above: the server's own code, and what calls cost more or less "
         "here than when they were priced."},
    [BILL_MEASURED] = {"measured", true, LOOPBACK_SEND,
                       "CPU time of the server's process over the requests it answered, by its CPU "
                       "clock."},
};

struct source { /* what a line is made of */
    const struct row *row;
    int pane;
    const struct io_model *io;
    const struct prices *prices;
};

static double mean(const struct source *s, enum metric_id m)
{
    return row_summary(s->row, s->pane, m).mean;
}

static double price(const struct source *s, enum price p)
{
    return s->prices->ns[p] / 1e3;
}

static bool has(const struct source *s, unsigned cap)
{
    return s->io && s->io->caps & cap;
}

/* 0.10, 5.20, 29.1; of something counted 7.4, 402. */
static const char *brief(double v, int decimals, char *buf, size_t size)
{
    static const unsigned tens[] = {1, 10, 100, 1000};
    if (!(fabs(v) < 9.95))
        return units_number(buf, size, v);
    unsigned n = (unsigned)lround(fabs(v) * tens[decimals]); /* printf would take a decimal comma */
    snprintf(buf, size, "%s%u.%0*u", v < 0 && n ? "-" : "", n / tens[decimals], decimals,
             n % tens[decimals]);
    return buf;
}

/* calls x (base + each x more): `more` of something beside each call, NaN when not known. */
static void put(struct bill_line *l, double calls, double base, double each, double more)
{
    char a[24], b[24], c[24];
    l->calls = calls;
    l->us = calls * (base + (more > 0 || isnan(more) ? each * more : 0));
    l->price[0] = '\0';
    if (isnan(l->us) || calls == 0)
        l->us = calls == 0 ? 0 : l->us;
    else if (more > 0)
        snprintf(l->price, sizeof l->price, "%s+%s×%s", brief(base, 2, a, sizeof a),
                 brief(more, 1, b, sizeof b), brief(each, 3, c, sizeof c));
    else
        snprintf(l->price, sizeof l->price, "%s", brief(base, 2, a, sizeof a));
}

/* What share of the set lies before the first ready socket, where so many are found among those
 * that ask: in the order of the set idle ones stand after them, before them or between them. */
static double share_before(const struct source *s, double looks)
{
    const struct params *p = &s->row->params;
    double found = fmax(mean(s, METRIC_events_per_wait), 1);
    double among = 1 / (found + 1), asking = fmin(p->connections / looks, 1);
    if (!(p->idle > 0) || p->active_at == ACTIVE_SPREAD)
        return among;
    return p->active_at == ACTIVE_LAST ? 1 - asking * (1 - among) : asking * among;
}

/* Messages one way are no requests. */
static double arrivals_per_s(const struct source *s)
{
    double requests = mean(s, METRIC_requests_per_s);
    return isnan(requests) ? mean(s, METRIC_messages_per_s) : requests;
}

/* What a look costs on average. A wait enters the wait queue of each socket until it has found a
 * ready one; when it finds none it goes through them again. How many waits did so is not
 * counted: those that slept, and those that were woken on the way, before they could. */
static double look_price(const struct source *s, double waits, double looks)
{
    bool list = has(s, CAP_LISTS);
    double awake = price(s, list ? PRICE_poll_look : PRICE_look);
    double asleep = price(s, list ? PRICE_poll_look_sleep : PRICE_look_sleep);
    double queue = fmax(asleep - 2 * awake, 0), pass_s = looks * (awake + queue) / 1e6;
    double slept = mean(s, METRIC_sleeps_per_request) / waits;
    double twice = slept * exp(arrivals_per_s(s) * pass_s / 2);
    if (isnan(twice))
        return NAN; /* fmin and fmax pass over it */
    twice = fmin(fmax(twice, 0), 1);
    return twice * asleep + (1 - twice) * (awake + queue * share_before(s, looks));
}

static void put_wait(const struct source *s, struct bill_line *l)
{
    double waits = mean(s, METRIC_waits_per_request);
    double looks = mean(s, METRIC_looks_per_request) / waits, call = price(s, PRICE_call);
    if (has(s, CAP_COMPLETION))
        put(l, waits, price(s, PRICE_ring_wait), 0, 0);
    else if (has(s, CAP_SCANS))
        put(l, waits, call, look_price(s, waits, looks), looks);
    else if (looks < 1.2)
        put(l, waits, price(s, PRICE_wait), 0, 0);
    else
        put(l, waits, call, price(s, PRICE_wait) - call, looks);
}

/* Of what a call does, or a ring. */
static double price_by(const struct source *s, enum price call, enum price ring)
{
    return price(s, has(s, CAP_COMPLETION) ? ring : call);
}

static void put_write(const struct source *s, struct bill_line *l)
{
    double writes = mean(s, METRIC_writes_per_request);
    double requests = mean(s, METRIC_requests_per_s);
    double kib = requests > 0 ? mean(s, METRIC_mib_per_s) * 1024 / requests : NAN;
    double send = price_by(s, PRICE_send, PRICE_ring_send);
    double more = writes > 0 ? kib / writes - 1 : 0;
    put(l, writes, send, price(s, PRICE_kib), more > 0.01 ? more : 0);
}

static void put_accept(const struct source *s, struct bill_line *l)
{
    double accepts = mean(s, METRIC_accepts_per_s), requests = mean(s, METRIC_requests_per_s);
    if (accepts > 0) /* connections that nothing is asked of belong to no request */
        accepts = requests > 0 ? accepts / requests : NAN;
    put(l, accepts, price(s, PRICE_accept) + price(s, PRICE_close), 0, 0);
}

static void put_work(const struct source *s, struct bill_line *l)
{
    const struct params *p = &s->row->params;
    bool works = s->io && s->io->policies & POLICY_CLIENT_WORK && p->client_work > 0;
    double held = p->connections + (p->idle > 0 ? p->idle : 0);
    put(l, works ? mean(s, METRIC_waits_per_request) : 0, 0, p->client_work, works ? held : 0);
}

/* What calls that were made cost where nobody priced them is no part of what is not explained. */
static double rest_of(struct bill *out, const struct prices *p)
{
    double rest = prices_known(p) ? out->line[BILL_MEASURED].us : NAN;
    for (int i = 0; i < BILL_REST; i++) {
        struct bill_line *l = &out->line[i];
        bool lacking = l->calls > 0 && isnan(l->us);
        if (lacking && prices_known(p))
            snprintf(l->price, sizeof l->price, "not measured");
        rest -= lacking || !isnan(l->us) ? l->us : 0;
    }
    return rest;
}

void bill_of(const struct row *r, int pane, const struct prices *p, struct bill *out)
{
    struct source s = {r, pane, r->panes[pane].io, p};
    struct bill_line *l = out->line;
    memset(out, 0, sizeof *out);
    double reads = mean(&s, METRIC_reads_per_request);
    double empty = mean(&s, METRIC_empty_reads_per_request);
    put_wait(&s, &l[BILL_WAIT]);
    put(&l[BILL_SLEEP], mean(&s, METRIC_sleeps_per_request), price(&s, PRICE_sleep), 0, 0);
    put(&l[BILL_READ], reads - empty, price_by(&s, PRICE_recv, PRICE_ring_recv), 0, 0);
    put(&l[BILL_EMPTY], empty, price(&s, PRICE_recv_empty), 0, 0);
    put_write(&s, &l[BILL_WRITE]);
    put(&l[BILL_CONTROL], mean(&s, METRIC_controls_per_request), price(&s, PRICE_mod), 0, 0);
    put_accept(&s, &l[BILL_ACCEPT]);
    put_work(&s, &l[BILL_WORK]);
    double measured = mean(&s, METRIC_cpu_us_per_request);
    l[BILL_MEASURED] = (struct bill_line){NAN, measured, ""};
    l[BILL_REST] = (struct bill_line){NAN, rest_of(out, p), ""};
    out->rest_pct = measured > 0 ? 100 * l[BILL_REST].us / measured : NAN;
}
