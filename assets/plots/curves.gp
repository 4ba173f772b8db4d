# A figure over what was varied. Blocks of the data: a line each (value, mean, low, high), those of
# before, then where lines meet.
if (log_x) set logscale x
if (log_y) set logscale y
if (!log_y) set yrange [0:*]
if (thousands && log_y) set format y '%.0s%c'
if (thousands && !log_y) set format y '%.1s%c'
set offsets graph 0.03, graph 0.03, graph 0.05, 0
set xlabel x_text . (note_text eq '' ? '' : "\n" . note_text)
set ylabel y_text
if (befores > 0) plot \
     for [i=0:befores - 1] data_name index lines + i using 1:2 with linespoints ls 11 + i, \
     for [i=0:lines - 1] data_name index i using 1:2 with linespoints ls i + 1, \
     for [i=0:lines - 1] data_name index i using 1:2:3:4 with yerrorbars ls i + 1 dt 1 notitle, \
     data_name index lines + befores using 1:2 with points ls 20 notitle
if (befores == 0) plot \
     for [i=0:lines - 1] data_name index i using 1:2 with linespoints ls i + 1, \
     for [i=0:lines - 1] data_name index i using 1:2:3:4 with yerrorbars ls i + 1 dt 1 notitle, \
     data_name index lines using 1:2 with points ls 20 notitle
