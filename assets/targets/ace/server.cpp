/* SPDX-License-Identifier: MIT */
/* A server on ACE: one process, one thread, the reactor that ACE takes by itself, an acceptor and a
 * service handler for each connection.
 *   server PORT SIZE echo|http
 * echo sends back what came. http answers each request (no body is looked for) with SIZE bytes. */
#include <ace/Acceptor.h>
#include <ace/INET_Addr.h>
#include <ace/Reactor.h>
#include <ace/SOCK_Acceptor.h>
#include <ace/SOCK_Stream.h>
#include <ace/Svc_Handler.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

static bool echo;
static std::string page;

class Client : public ACE_Svc_Handler<ACE_SOCK_STREAM, ACE_NULL_SYNCH>
{
public:
    int handle_input(ACE_HANDLE) override
    {
        char data[16384];
        ssize_t n = peer().recv(data, sizeof data);
        if (n <= 0)
            return -1; /* the reactor then calls handle_close(), which deletes it */
        if (echo)
            return peer().send_n(data, static_cast<size_t>(n)) == n ? 0 : -1;
        head.append(data, static_cast<size_t>(n));
        return answer();
    }

private:
    static const size_t HEAD_MOST = 65536;
    std::string head;

    int answer()
    {
        for (size_t end; (end = head.find("\r\n\r\n")) != std::string::npos; head.erase(0, end + 4))
            if (peer().send_n(page.data(), page.size()) != static_cast<ssize_t>(page.size()))
                return -1;
        return head.size() > HEAD_MOST ? -1 : 0;
    }
};

int main(int argc, char **argv)
{
    if (argc != 4 || (strcmp(argv[3], "echo") != 0 && strcmp(argv[3], "http") != 0)) {
        fputs("usage: server PORT SIZE echo|http\n", stderr);
        return 2;
    }
    size_t size = strtoul(argv[2], nullptr, 10);
    echo = strcmp(argv[3], "echo") == 0;
    page = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " +
            std::to_string(size) + "\r\n\r\n" + std::string(size, 'x');

    ACE_INET_Addr at(static_cast<u_short>(atoi(argv[1])), "127.0.0.1");
    ACE_Acceptor<Client, ACE_SOCK_ACCEPTOR> acceptor;
    if (acceptor.open(at, ACE_Reactor::instance()) == -1) {
        perror("listen");
        return 1;
    }
    return ACE_Reactor::instance()->run_reactor_event_loop() == -1;
}
