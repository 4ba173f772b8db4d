# SPDX-License-Identifier: MIT
# A server on EventMachine: one process, one thread, one reactor, nothing set that is not asked for.
#   ruby server.rb PORT SIZE echo|http [epoll] [print]
# echo sends back what came. http answers each request (no body is looked for) with SIZE bytes.
# EventMachine waits with select() unless EM.epoll is called before it runs. `print` writes every
# request to stdout at once, as a server does that one watches while it works.
require "eventmachine"

port, size, protocol, *wishes = ARGV
abort "usage: server.rb PORT SIZE echo|http [epoll] [print]" unless
  port.to_i > 0 && %w[echo http].include?(protocol) && (wishes - %w[epoll print]).empty?

PRINT = wishes.include?("print")
REPLY = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: #{size.to_i}\r\n\r\n" +
        "x" * size.to_i
$stdout.sync = true

module Echo
  def receive_data(data)
    puts data if PRINT
    send_data data
  end
end

module Http
  HEAD_MOST = 65_536

  def post_init
    @head = +""
  end

  def receive_data(data)
    puts data if PRINT
    @head << data
    while (ends = @head.index("\r\n\r\n"))
      @head.slice!(0, ends + 4)
      send_data REPLY
    end
    close_connection if @head.bytesize > HEAD_MOST
  end
end

EM.epoll if wishes.include?("epoll")
EM.run do
  trap("TERM") { EM.stop }
  EM.start_server "127.0.0.1", port.to_i, protocol == "echo" ? Echo : Http
end
