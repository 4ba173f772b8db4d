# How all pictures of iodash look: a light background, and lines that differ by colour (Okabe and
# Ito's palette, told apart by colour-blind readers), by dash and by the shape of their points.
set encoding utf8
if (picture eq 'png') set terminal pngcairo noenhanced size 1000,620 font 'sans,12' background rgb 'white'
if (picture eq 'svg') set terminal svg noenhanced size 1000,620 dynamic font 'sans,15' background rgb 'white'
set output output_name
set decimalsign '.'
set key autotitle columnheader
set key tmargin center horizontal samplen 3 width 2
set border 3 lc rgb '#555555'
set tics nomirror out
set grid lc rgb '#e4e4e4' lt 1
set title title_text . "\n" . about_text
set style line 1 lc rgb '#0072B2' lw 2 pt 7 ps 1.1 dt 1
set style line 2 lc rgb '#D55E00' lw 2 pt 6 ps 1.1 dt 2
set style line 3 lc rgb '#AA3377' lw 2 pt 5 ps 1.0 dt 4
set style line 4 lc rgb '#007755' lw 2 pt 8 ps 1.2 dt 5
# the same four as they were before
set style line 11 lc rgb '#0072B2' lw 1 pt 2 ps 0.8 dt 3
set style line 12 lc rgb '#D55E00' lw 1 pt 2 ps 0.8 dt 3
set style line 13 lc rgb '#AA3377' lw 1 pt 2 ps 0.8 dt 3
set style line 14 lc rgb '#007755' lw 1 pt 2 ps 0.8 dt 3
set style line 20 lc rgb '#000000' lw 2 pt 3 ps 1.6
set style line 21 lc rgb '#bbbbbb' lw 1
