package dev.tollgate.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LeaderNewsTest {
  /** The news are that n2 at b:1 leads in term 7. */
  private static final LeaderNews.Leader NEWS = new LeaderNews.Leader(7, "n2", "b:1");

  @ParameterizedTest(name = "{0} at {1}, met in term {2}: {3}")
  @CsvSource({
    // another node, from before, at the same moment, and from after the news
    "n1, a:1, 6, true",
    "n1, a:1, 7, false",
    "n1, a:1, 8, false",
    // the leader itself, whenever it was met, and under whichever of its addresses
    "n2, b:1, 6, false",
    "n2, b:1, 7, false",
    "n2, localhost:1, 6, false",
    // an attempt that has no answer to hello yet
    ", a:1, 6, true",
    ", a:1, 7, false",
    ", b:1, 6, false",
    // a node of an earlier version, which names no term
    "n1, a:1, 9223372036854775807, false",
  })
  void aConnectionIsSupersededByAnotherNodeInALaterTerm(
      String nodeId, String address, long term, boolean superseded) {
    assertEquals(superseded, new NodeConnection.Met(nodeId, term, 5).isBefore(NEWS, address));
  }

  @Test
  void newsThatAreNotLaterAreIgnored() {
    LeaderNews news = new LeaderNews();
    assertEquals(0, news.term());
    news.learn(NEWS);
    assertEquals(7, news.term());
    news.learn(new LeaderNews.Leader(6, "n3", "c:1"));
    assertEquals(7, news.term());
    news.learn(new LeaderNews.Leader(8, "n1", "a:1"));
    assertEquals(8, news.term());
  }
}
