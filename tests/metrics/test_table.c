/* SPDX-License-Identifier: MIT */
/* The metric table: whole, found by id, and empty until somebody measures. */
#include <string.h>

#include "base/check.h"
#include "metrics/metrics.h"

static void test_every_row_is_whole_and_its_id_its_own(void **state)
{
    (void)state;
    static const char *const units[] = {"us", "ns",    "%",     "/s",  "B",
                                        "s",  "MiB/s", "ticks", "MHz", ""};
    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct metric *m = &metric_table[i];
        bool known = false;
        for (size_t u = 0; u < sizeof units / sizeof *units; u++)
            known = known || !strcmp(units[u], m->unit);
        assert_true(known);
        assert_true(*m->id && *m->title && *m->help);
        assert_int_equal(strspn(m->id, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(m->id));
        assert_int_equal(metrics_find(m->id), i); /* also: no second row of that id */
        assert_string_equal(metrics_word(i), m->id);
    }
    assert_null(metrics_word(METRIC_COUNT));
    assert_null(metrics_word(-1));
}

static void test_ids_of_the_first_list(void **state)
{
    (void)state;
    static const char list[] =
        "cpu_us_per_request server_cpu_pct server_user_pct server_sys_pct load_cpu_pct "
        "load_spare_pct process_cpu_pct ui_cpu_pct rss_bytes mem_pct established accepted refused "
        "accepts_per_s connections_per_s connect_s accepted_s syn_retransmits timer_s "
        "requests_per_s mib_per_s latency_mean_us latency_p50_us latency_p90_us latency_p99_us "
        "latency_p999_us latency_max_us send_late_p99_us response_p50_us response_p90_us "
        "response_p99_us response_p999_us response_max_us waits_per_s events_per_wait "
        "looks_per_request errors errors_refused errors_reset errors_timeout errors_port errors_fd "
        "errors_bytes";
    char copy[sizeof list], *rest = copy;
    memcpy(copy, list, sizeof list);
    for (char *id; (id = strsep(&rest, " "));)
        if (metrics_find(id) < 0)
            fail_msg("%s was renamed or removed", id);
    assert_int_equal(metrics_find("cpu"), -1);
    assert_int_equal(metrics_find(""), -1);
    assert_int_equal(metric_table[METRIC_errors].fold, FOLD_SUM);
    assert_int_equal(metric_table[METRIC_cpu_us_per_request].cls, CLASS_COST);
}

static void test_nothing_is_measured_at_first(void **state)
{
    (void)state;
    struct values v;
    memset(&v, 0, sizeof v);
    values_clear(&v);
    for (int i = 0; i < METRIC_COUNT; i++)
        assert_nan(v.v[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_is_whole_and_its_id_its_own),
        cmocka_unit_test(test_ids_of_the_first_list),
        cmocka_unit_test(test_nothing_is_measured_at_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
