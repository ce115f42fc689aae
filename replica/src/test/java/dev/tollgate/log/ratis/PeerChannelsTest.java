package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.tollgate.log.Supervision;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.ratis.protocol.RaftPeer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** When channels are renewed, with a peer that is nothing but a port. */
class PeerChannelsTest {
  private final List<String> renewed = Collections.synchronizedList(new ArrayList<>());
  private final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
  private final ExecutorService probes = Executors.newSingleThreadExecutor();
  private final PeerChannels channels =
      new PeerChannels(
          "n1", new Supervision("n1", failures::add), peer -> renewed.add(peer.toString()), probes);

  private ServerSocket listener;
  private RaftPeer peer;

  @BeforeEach
  void findAPort() throws IOException {
    listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    peer =
        RaftPeer.newBuilder()
            .setId("n2")
            .setAddress("127.0.0.1:" + listener.getLocalPort())
            .build();
  }

  @AfterEach
  void stop() throws IOException {
    channels.close();
    listener.close();
  }

  @Test
  void channelToANodeThatAcceptsAgainIsRenewedOnce() throws Exception {
    for (int outage = 1; outage <= 2; outage++) {
      goDown();
      look(silent(false));
      assertEquals(outage - 1, renewed.size(), "nobody is there");
      comeBack();
      look(silent(false));
      look(silent(false));
      assertEquals(Collections.nCopies(outage, "n2"), renewed);
    }
  }

  @Test
  void silentFollowerThatAcceptsAllTheTimeKeepsItsChannel() throws Exception {
    look(silent(false));
    look(silent(false));
    assertEquals(List.of(), renewed);
  }

  @Test
  void nodeWithoutALeaderRenewsOnceWhatMayHaveFailedBefore() throws Exception {
    look(silent(true));
    assertEquals(List.of(), renewed, "an election may be under way");
    look(silent(true));
    look(silent(true));
    assertEquals(List.of("n2"), renewed);
  }

  /** As when leadership is handed over again and again, each time just before a look. */
  @Test
  void electionsKeepTheirChannels() throws Exception {
    for (int election = 0; election < 3; election++) {
      look(silent(true));
      look(new Silence(false, false, List.of()));
    }
    assertEquals(List.of(), renewed);
  }

  /** The thread that looks may be at it while another one closes. */
  @Test
  void lookWhileTheNodeStopsIsNoFailure() {
    channels.close();
    channels.look(silent(true));
    assertEquals(List.of(), failures);
    assertEquals(List.of(), renewed);
  }

  /** Somebody who starts a node before the others has to see why it does not become ready. */
  @Test
  void nodeWithoutALeaderSaysSoOnceAMinute() throws Exception {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    Logger logger = (Logger) LoggerFactory.getLogger(PeerChannels.class);
    log.start();
    logger.addAppender(log);
    try {
      goDown();
      for (int i = 0; i < 130; i++) {
        look(silent(true));
      }
    } finally {
      logger.detachAppender(log);
    }
    String line = "n1: there is no leader. Other nodes: n2 is not reached.";
    assertEquals(
        List.of(line, line, line),
        log.list.stream().map(ILoggingEvent::getFormattedMessage).toList());
  }

  @Test
  void channelOverWhichANodeIsHeardIsKept() throws Exception {
    goDown();
    look(silent(false));
    comeBack();
    look(new Silence(false, false, List.of()));
    look(silent(false));
    assertEquals(List.of(), renewed);
  }

  private Silence silent(boolean leaderless) {
    return new Silence(leaderless, false, List.of(peer));
  }

  private void look(Silence silence) throws Exception {
    channels.look(silence);
    probes.submit(() -> {}).get();
  }

  private void goDown() throws IOException {
    listener.close();
  }

  private void comeBack() throws IOException {
    int port = listener.getLocalPort();
    listener = new ServerSocket();
    listener.setReuseAddress(true);
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
  }
}
