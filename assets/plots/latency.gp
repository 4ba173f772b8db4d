# How long requests took. Blocks of the data: a line each (nines, mean, low, high), in seconds. The
# horizontal axis counts nines: one is 90 %, two 99 %. The slowest has a place of its own.
set logscale y
set format y '%.0s %cs'
set xrange [0.1:3.9]
set xtics ('50 %%' 0.30103, '90 %%' 1, '99 %%' 2, '99.9 %%' 3, 'slowest' 3.7)
set xlabel "of the requests were answered within\n" . note_text
set ylabel 'time of a request'
plot for [i=0:lines - 1] data_name index i using 1:2 with linespoints ls i + 1, \
     for [i=0:lines - 1] data_name index i using 1:2:3:4 with yerrorbars ls i + 1 dt 1 notitle
