#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# A server on POE: one process, one thread, the event loop that POE takes by itself.
#   perl server.pl PORT SIZE echo|http
# echo sends back what came. http answers each request (no body is looked for) with SIZE bytes.
use strict;
use warnings;

use POE qw(Wheel::SocketFactory Wheel::ReadWrite Filter::Stream);

use constant HEAD_MOST => 65_536;

my ($port, $size, $protocol) = @ARGV;
die "usage: server.pl PORT SIZE echo|http\n"
  unless @ARGV == 3 && $port =~ /^\d+$/ && $size =~ /^\d+$/ && $protocol =~ /^(?:echo|http)$/;

my $reply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: $size\r\n\r\n" . "x" x $size;

sub start {
    $_[HEAP]{listener} = POE::Wheel::SocketFactory->new(
        BindAddress  => '127.0.0.1',
        BindPort     => $port,
        Reuse        => 'on',
        SuccessEvent => 'client',
        FailureEvent => 'failed',
    );
}

sub failed {
    my ($call, $text) = @_[ARG0, ARG2];
    die "$call: $text\n" if $call eq 'bind' || $call eq 'listen';
    warn "$call: $text\n";    # accept: the next client may have more luck
}

sub client {
    my $wheel = POE::Wheel::ReadWrite->new(
        Handle     => $_[ARG0],
        Filter     => POE::Filter::Stream->new,
        InputEvent => 'input',
        ErrorEvent => 'gone',
    );
    $_[HEAP]{clients}{ $wheel->ID } = { wheel => $wheel, head => '' };
}

sub input {
    my ($heap, $data, $id) = @_[HEAP, ARG0, ARG1];
    my $client = $heap->{clients}{$id} or return;
    if ($protocol eq 'echo') {
        $client->{wheel}->put($data);
        return;
    }
    $client->{head} .= $data;
    $client->{wheel}->put($reply) while $client->{head} =~ s/^.*?\r\n\r\n//s;
    delete $heap->{clients}{$id} if length $client->{head} > HEAD_MOST;
}

sub gone {
    delete $_[HEAP]{clients}{ $_[ARG3] };
}

POE::Session->create(
    inline_states => {
        _start => \&start,
        failed => \&failed,
        client => \&client,
        input  => \&input,
        gone   => \&gone,
    },
);
POE::Kernel->run;
