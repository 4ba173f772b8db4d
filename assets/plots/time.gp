# A figure of each sample over time. Blocks of the data: the kept samples of each line (a row of the
# session each stretch), those that were not kept, then where each row begins and what it is of.
if (log_y) set logscale y
if (!log_y) set yrange [0:*]
set xlabel 'seconds since the session began'
set ylabel y_text
set y2range [0:1]
plot data_name index 2 * lines using 1:(1) axes x1y2 with impulses ls 21 notitle, \
     for [i=0:lines - 1] data_name index i using 1:2 with linespoints ls i + 1 ps 0.7, \
     for [i=0:lines - 1] data_name index lines + i using 1:2 with points ls i + 1 pt 7 ps 0.25 notitle, \
     data_name index 2 * lines using 1:(0.02):2 axes x1y2 with labels left rotate by 90 offset char 0.8,0 textcolor rgb '#777777' notitle
