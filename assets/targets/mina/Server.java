// SPDX-License-Identifier: MIT
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.apache.mina.core.buffer.IoBuffer;
import org.apache.mina.core.service.IoHandlerAdapter;
import org.apache.mina.core.session.IoSession;
import org.apache.mina.transport.socket.nio.NioSocketAcceptor;

/**
 * A server on Apache MINA: its acceptor and its I/O processors as it makes them by itself, no
 * filter. Arguments: PORT SIZE echo|http. echo sends back what came. http answers each request (no
 * body is looked for) with SIZE bytes.
 */
public final class Server extends IoHandlerAdapter {
    private static final byte[] END = {'\r', '\n', '\r', '\n'};
    private static final String SEEN = "seen"; // bytes of END that came last

    private final boolean echo;
    private final byte[] reply;

    private Server(boolean echo, int size) {
        this.echo = echo;
        byte[] head = ("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + size
                + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
        reply = new byte[head.length + size];
        System.arraycopy(head, 0, reply, 0, head.length);
        java.util.Arrays.fill(reply, head.length, reply.length, (byte) 'x');
    }

    @Override
    public void messageReceived(IoSession session, Object message) {
        IoBuffer in = (IoBuffer) message;
        if (echo) {
            session.write(in.duplicate());
            return;
        }
        int seen = (Integer) session.getAttribute(SEEN, 0);
        while (in.hasRemaining()) {
            byte b = in.get();
            seen = b == END[seen] ? seen + 1 : b == END[0] ? 1 : 0;
            if (seen == END.length) {
                session.write(IoBuffer.wrap(reply).asReadOnlyBuffer());
                seen = 0;
            }
        }
        session.setAttribute(SEEN, seen);
    }

    /** A client that is gone is no news. */
    @Override
    public void exceptionCaught(IoSession session, Throwable cause) {
        session.closeNow();
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 3 || !(args[2].equals("echo") || args[2].equals("http"))) {
            System.err.println("usage: Server PORT SIZE echo|http");
            System.exit(2);
        }
        NioSocketAcceptor acceptor = new NioSocketAcceptor();
        acceptor.setReuseAddress(true);
        acceptor.setHandler(new Server(args[2].equals("echo"), Integer.parseInt(args[1])));
        acceptor.bind(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])));
    }
}
