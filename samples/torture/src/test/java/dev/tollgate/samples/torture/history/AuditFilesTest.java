package dev.tollgate.samples.torture.history;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.KeyFile;
import dev.tollgate.seal.LineSeal;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditFilesTest {
  private static final String TIME = "{\"time\":\"2026-11-24T11:05:22.000042Z\",\"event\":\"";

  @TempDir Path directory;
  private final Map<String, List<String>> lines = new TreeMap<>();

  @BeforeEach
  void startNodes() {
    for (String node : List.of("n1", "n2", "n3")) {
      lines.put(node, new ArrayList<>());
      add(node, "audit_started\",\"directory\":\"d\",\"index\":0,\"ordinal\":0,\"number\":0");
      add(node, "login\",\"term\":3");
    }
  }

  private void add(String node, String rest) {
    lines.get(node).add(TIME + rest + ",\"node\":\"" + node + "\",\"outcome\":\"done\"}");
  }

  private static String grant(int index) {
    return "lock_granted\",\"index\":" + index + ",\"ordinal\":0,\"number\":0";
  }

  private void everywhere(int index) {
    lines.keySet().forEach(node -> add(node, grant(index)));
  }

  private AuditComparison compare() throws IOException {
    Map<String, Path> files = new TreeMap<>();
    for (Map.Entry<String, List<String>> node : lines.entrySet()) {
      Path file = directory.resolve(node.getKey());
      Files.writeString(file, String.join("\n", node.getValue()) + "\n{\"time\":\"half");
      files.put(node.getKey(), file);
    }
    return AuditFiles.compare(files, Map.of());
  }

  @Test
  void equalFilesAgree() throws IOException {
    everywhere(7);
    everywhere(8);
    assertEquals(new AuditComparison(2, 6, 0, Map.of("lock_granted", 2L), List.of()), compare());
  }

  @Test
  void lineThatOnlyOneNodeHasIsMissingOnTheOthers() throws IOException {
    everywhere(7);
    add("n1", grant(8));
    everywhere(9);
    String line = TIME + grant(8) + ",\"outcome\":\"done\"}";
    assertEquals(List.of("n2 lacks " + line, "n3 lacks " + line), compare().differences());
  }

  @Test
  void nodeMayBeBehind() throws IOException {
    everywhere(7);
    add("n1", grant(8));
    add("n2", grant(8));
    assertEquals(List.of(), compare().differences());
    assertEquals(5, compare().compared());
  }

  @Test
  void lineMayBeMissingInAGapOrALossAlone() throws IOException {
    add("n1", grant(7));
    add("n2", grant(7));
    add("n3", "audit_gap\",\"index\":8,\"after_index\":6");
    add("n1", grant(9));
    add("n2", "audit_lost\",\"lost\":1,\"first_index\":9,\"last_index\":9");
    add("n3", grant(9));
    add("n1", grant(10));
    add("n2", grant(10));
    everywhere(11);
    AuditComparison found = compare();
    assertEquals(2, found.excused());
    assertEquals(
        List.of("n3 lacks " + TIME + grant(10) + ",\"outcome\":\"done\"}"), found.differences());
  }

  @Test
  void lineThatSaysSomethingElseIsFound() throws IOException {
    add("n1", grant(7) + ",\"token\":1");
    add("n2", grant(7) + ",\"token\":1");
    add("n3", grant(7) + ",\"token\":2");
    assertEquals(1, compare().differences().size());
  }

  @Test
  void lineThatIsThereTwiceIsFound() throws IOException {
    everywhere(7);
    add("n2", grant(7));
    assertEquals(
        List.of("n2: the event at Place[index=7, ordinal=0, number=0] has two lines"),
        compare().differences());
  }

  @Test
  void hashesAndTheTimeOfANodeDifferByNode() throws IOException {
    for (String node : lines.keySet()) {
      String line = TIME.replace("2026", "202" + node.charAt(1)) + grant(7);
      lines
          .get(node)
          .add(
              line
                  + ",\"node\":\""
                  + node
                  + "\",\"time_of\":\"node\",\"outcome\":\"done\",\"chain\":\""
                  + node
                  + "\"}");
    }
    everywhere(8);
    assertEquals(List.of(), compare().differences());
    assertEquals(Map.of("lock_granted", 2L), compare().kinds());
  }

  @Test
  void nodeThatGoesOnAtAnEarlierPlaceRepeatsItsLines() throws IOException {
    everywhere(7);
    everywhere(8);
    add("n2", "audit_started\",\"directory\":\"d\",\"index\":7,\"ordinal\":0,\"number\":0");
    add("n2", grant(8));
    assertEquals(List.of(), compare().differences());
  }

  /** The lines of a node as it writes them, each with its hash. */
  private static List<byte[]> sealed(List<String> lines, DataKeys keys) throws Exception {
    LineSeal seal = LineSeal.with(keys);
    List<byte[]> all = new ArrayList<>();
    String hash = "0".repeat(64);
    for (String line : lines) {
      String body = line.substring(0, line.length() - 1);
      body += all.isEmpty() ? ",\"before\":\"" + hash + "\"" : "";
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(hash.getBytes(US_ASCII));
      hash = HexFormat.of().formatHex(digest.digest(body.getBytes(US_ASCII)));
      all.add(seal.seal((body + ",\"chain\":\"" + hash + "\"}").getBytes(US_ASCII)));
    }
    return all;
  }

  @Test
  void encryptedFilesAreComparedByTheirText() throws Exception {
    everywhere(7);
    add("n1", grant(8));
    everywhere(9);
    Map<String, Path> files = new TreeMap<>();
    Map<String, Path> keyFiles = new TreeMap<>();
    for (Map.Entry<String, List<String>> node : lines.entrySet()) {
      byte[] key = new byte[32];
      key[0] = (byte) node.getKey().charAt(1);
      Path keyFile = directory.resolve(node.getKey() + ".data-key");
      Files.writeString(keyFile, node.getKey() + " " + Base64.getEncoder().encodeToString(key));
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      for (byte[] line : sealed(node.getValue(), DataKeys.read(new KeyFile(keyFile)))) {
        out.writeBytes(line);
        out.write('\n');
      }
      Path file = directory.resolve(node.getKey());
      Files.write(file, out.toByteArray());
      files.put(node.getKey(), file);
      keyFiles.put(node.getKey(), keyFile);
    }
    AuditComparison found = AuditFiles.compare(files, keyFiles);
    String line = TIME + grant(8) + ",\"outcome\":\"done\"}";
    assertEquals(List.of("n2 lacks " + line, "n3 lacks " + line), found.differences());
    assertEquals(6, found.compared());
  }

  @Test
  void manyDifferencesAreCounted() throws IOException {
    for (int index = 1; index < 9; index++) {
      add("n1", grant(index));
      add("n2", grant(index));
    }
    everywhere(9);
    List<String> found = compare().differences();
    assertEquals(6, found.size());
    assertEquals("and 3 more differences", found.get(5));
  }
}
