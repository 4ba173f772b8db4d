// SPDX-License-Identifier: MIT
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.xsocket.connection.IDataHandler;
import org.xsocket.connection.INonBlockingConnection;

/**
 * A server on xSocket, as it sets itself up. Arguments: PORT SIZE echo|http. echo sends back what
 * came. http answers each request (no body is looked for) with SIZE bytes.
 */
public final class Server implements IDataHandler {
    private static final byte[] END = {'\r', '\n', '\r', '\n'};

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
    public boolean onData(INonBlockingConnection connection) throws IOException {
        int n = connection.available();
        if (n <= 0) {
            return true; // -1: the client is gone
        }
        byte[] in = connection.readBytesByLength(n);
        if (echo) {
            connection.write(in);
            return true;
        }
        int seen = connection.getAttachment() == null ? 0 : (Integer) connection.getAttachment();
        for (byte b : in) {
            seen = b == END[seen] ? seen + 1 : b == END[0] ? 1 : 0;
            if (seen == END.length) {
                connection.write(reply);
                seen = 0;
            }
        }
        connection.setAttachment(seen);
        return true;
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 3 || !(args[2].equals("echo") || args[2].equals("http"))) {
            System.err.println("usage: Server PORT SIZE echo|http");
            System.exit(2);
        }
        Server server = new Server(args[2].equals("echo"), Integer.parseInt(args[1]));
        new org.xsocket.connection.Server("127.0.0.1", Integer.parseInt(args[0]), server).run();
    }
}
