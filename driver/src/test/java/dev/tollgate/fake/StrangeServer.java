package dev.tollgate.fake;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Something on a port that is no node: what it says to whoever connects is up to the test. */
public final class StrangeServer implements AutoCloseable {
  /** What it does with a connection; when this returns, it waits for the client to leave. */
  public interface Manners {
    void serve(Socket client) throws IOException;
  }

  private final ServerSocket server;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger accepted = new AtomicInteger();

  public StrangeServer(Manners manners) throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    daemon("strange-server", () -> accept(manners));
  }

  private static void daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void accept(Manners manners) {
    while (true) {
      try {
        Socket client = server.accept();
        client.setTcpNoDelay(true);
        open.add(client);
        accepted.incrementAndGet();
        daemon("strange-connection", () -> serve(client, manners));
      } catch (IOException e) {
        // the test is over
        return;
      }
    }
  }

  private void serve(Socket client, Manners manners) {
    try (client) {
      manners.serve(client);
      byte[] ignored = new byte[8192];
      while (!client.isClosed() && client.getInputStream().read(ignored) >= 0) {
        // whatever it says
      }
    } catch (IOException e) {
      // it has left
    } finally {
      open.remove(client);
    }
  }

  public String address() {
    return "127.0.0.1:" + server.getLocalPort();
  }

  /** How many connections were ever made. */
  public int accepted() {
    return accepted.get();
  }

  /** How many clients have not closed their end. */
  public int openConnections() {
    return open.size();
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket client : open) {
      client.close();
    }
  }
}
