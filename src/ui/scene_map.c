/* SPDX-License-Identifier: MIT */
/* The map's part of a scene: the places as the rows have them now, and what is left to measure. */
#include "ui/scene.h"

#include "session/plan.h"

static void count_places(struct scene *s)
{
    const struct map *m = &s->map;
    struct plan plan;
    map_plan(m, &plan);
    s->map_missing = plan.count;
    s->map_seconds = plan.seconds;
    plan_free(&plan);
    s->map_measured = 0;
    for (int i = 0; i < map_columns(m) * map_rows(m) + m->axes.has_at; i++)
        s->map_measured += m->cell[i].kind == MAP_FIGURE || m->cell[i].kind == MAP_FAILED;
}

void scene_take_map(struct scene *s, const struct rows *rows, const struct map_ask *ask)
{
    if (s->has_map)
        map_free(&s->map);
    s->map_refused = ask ? map_refused(ask->want) : "";
    s->has_map = ask && !*s->map_refused;
    if (!s->has_map)
        return;
    map_make(ask, rows, &s->map);
    count_places(s);
}
