package dev.tollgate.node.login;

import java.io.IOException;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/** The sockets of one check, which end when its time is over, whatever waits for them. */
final class OpenSockets {
  private final List<Socket> open = new ArrayList<>();
  private boolean over;

  /** Adds a socket that is about to connect. */
  synchronized void add(Socket socket) throws IOException {
    if (over) {
      socket.close();
      throw new IOException("the time of the check is over");
    }
    open.add(socket);
  }

  /** Closes all sockets, those of later too. */
  synchronized void end() {
    over = true;
    for (Socket socket : open) {
      try {
        socket.close();
      } catch (IOException e) {
        // it is closed then
      }
    }
    open.clear();
  }
}
