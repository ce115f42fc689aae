package dev.tollgate.samples.torture.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.samples.torture.cluster.Snapshots;
import dev.tollgate.samples.torture.history.Checker;
import dev.tollgate.samples.torture.history.Evidence;
import dev.tollgate.samples.torture.history.Interruption;
import dev.tollgate.samples.torture.history.Outcome;
import dev.tollgate.samples.torture.history.Rule;
import dev.tollgate.samples.torture.history.RunOnPaper;
import dev.tollgate.samples.torture.workload.Probe;
import java.io.StringReader;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class ReportTest {
  private static RunOnPaper story() {
    return new RunOnPaper()
        .answers(0, 10_000)
        .fault("pause", "n1", true, 10_000, 15_000)
        .fault("kill", "n2 & n3 <all>", false, 20_000, 29_000)
        .answers(12_500, 20_000)
        .answers(30_000, 40_000)
        .ends(40_000)
        .grant("c1", "alpha", 1, 1_000, 1_010)
        .write("c1", "alpha", 1, 1, 1_040, 1_050)
        .interrupted("c1", Interruption.Cause.STOPPED, 1_060, 11_000)
        .interrupted("c1", Interruption.Cause.STALLED, 1_050, 11_010)
        .interrupted("c2", Interruption.Cause.STALLED, 3_000, 5_000)
        .grant("c2", "alpha", 2, 2_000, 8_000)
        .write("c2", "alpha", 2, 2, 8_030, 8_040)
        .refusedWrite("c1", "alpha", 1, 2, 11_010, 11_020)
        .release("c2", "alpha", 2, 12_000, 12_010, Outcome.DONE)
        .answeredWrite("c3", "alpha", 0, 3, 13_000, 13_010, Outcome.REFUSED, "23T02")
        .miss("c3", "alpha", 9_000, 11_000);
  }

  private static Tale tale(RunOnPaper run) {
    Evidence evidence = run.evidence();
    return new Tale(
        "samples/torture.sh --seed 17",
        17,
        3,
        List.of("slow: no iproute2"),
        List.of(
            new Probe.Leadership("n1", 0),
            new Probe.Leadership("n2", 12_500_000_000L),
            new Probe.Leadership("n1", 30_000_000_000L)),
        new Snapshots(31, 4, 2),
        evidence,
        Checker.check(evidence));
  }

  private static Document parse(String svg) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(svg)));
  }

  private static List<String> texts(Document document, String element) {
    NodeList nodes = document.getElementsByTagName(element);
    return IntStream.range(0, nodes.getLength())
        .mapToObj(i -> nodes.item(i).getTextContent())
        .toList();
  }

  @Test
  void figuresAreThoseOfTheRun() {
    Summary summary = Summary.of(tale(story()));
    assertEquals(8, summary.operations());
    assertEquals(2, summary.grants());
    assertEquals(1, summary.misses());
    assertEquals(2, summary.writes());
    assertEquals(1, summary.staleWritesRefused());
    assertEquals(1, summary.bareWritesRefused());
    assertEquals(1, summary.interruptions(Interruption.Cause.STOPPED));
    assertEquals(1, summary.stalls(), "a client notices too that it was stopped");
    assertEquals(2, summary.leaderChanges());
    assertEquals(10_100_000_000L, summary.longestOutageNanos());
    assertEquals(1_010_000_000L, summary.slowestReturnNanos());
    assertEquals(
        Map.of(
            "pause", new Summary.OfKind(1, 2_600_000_000L, 10_000_000L),
            "kill", new Summary.OfKind(1, 10_100_000_000L, 1_010_000_000L)),
        summary.faults());
    assertTrue(summary.text().contains("stale writes refused             1\n"), summary.text());
    assertTrue(summary.text().contains("snapshots taken over from leader 2\n"), summary.text());
  }

  @Test
  void pictureTellsTheStory() throws Exception {
    Document picture = parse(Report.svg(tale(story())));
    List<String> texts = texts(picture, "text");
    assertTrue(texts.contains("\u2713 all " + (Rule.values().length - 1) + " promises held"));
    assertTrue(texts.contains("left out: slow: no iproute2"), texts.toString());
    assertTrue(texts.contains("10.1 s"), "the outage has its length: " + texts);
    List<String> titles = texts(picture, "title");
    assertTrue(titles.contains("c1 holds alpha under 1, 1.01 to 8.00 s"), titles.toString());
    assertTrue(titles.contains("c1 holds alpha under 1, 1.01 to 8.00 s; stopped"));
    assertTrue(titles.contains("c1 believes that it still holds alpha"));
    assertTrue(titles.contains("c1 was refused with 23T01, token 1"));
    assertTrue(titles.contains("c3 was refused with 23T02, token 0"));
    assertTrue(titles.contains("c3 waits no longer"));
    assertTrue(titles.contains("kill of n2 & n3 <all>"), "what is no XML is escaped");
  }

  @Test
  void auditFilesCountIfThereAreAny() throws Exception {
    Tale tale = tale(story().audited());
    assertTrue(Summary.of(tale).text().contains("audit lines compared             12\n"));
    assertTrue(Summary.of(tale).text().contains("audited lock_granted             4\n"));
    assertTrue(
        texts(parse(Report.svg(tale)), "text")
            .contains("\u2713 all " + Rule.values().length + " promises held"));
  }

  @Test
  void violationIsAtTheHeadAndInItsPlace() throws Exception {
    Tale tale = tale(story().incident("n2 ended by itself"));
    assertEquals(1, tale.violations().size());
    Document picture = parse(Report.svg(tale));
    List<String> texts = texts(picture, "text");
    assertTrue(texts.contains("\u2717 violations: 1"), texts.toString());
    assertTrue(texts.contains("40.000 s  n2 ended by itself"), texts.toString());
    assertFalse(texts.contains("\u2713 all " + (Rule.values().length - 1) + " promises held"));
    assertTrue(texts.contains("!"));
  }
}
