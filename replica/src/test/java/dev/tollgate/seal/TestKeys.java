package dev.tollgate.seal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;

/** Data keys of tests, which tests can change: what a key is depends on its name alone. */
public final class TestKeys implements KeySource {
  private volatile String text;

  private TestKeys(String text) {
    this.text = text;
  }

  /** Returns keys with these names. */
  public static DataKeys of(String... ids) throws IOException {
    return DataKeys.read(source(ids));
  }

  /** Returns where keys with these names come from. */
  public static TestKeys source(String... ids) {
    TestKeys source = new TestKeys("");
    source.become(ids);
    return source;
  }

  /** Gives other keys from now on. */
  public void become(String... ids) {
    text = String.join("\n", Arrays.stream(ids).map(TestKeys::line).toList());
  }

  /** Returns a key that is another one than that of tests of the same name. */
  public static DataKeys impostor(String id) throws IOException {
    return DataKeys.read(new TestKeys(id + " " + encoded("not " + id)));
  }

  private static String line(String id) {
    return id + " " + encoded(id);
  }

  private static String encoded(String what) {
    return Base64.getEncoder()
        .encodeToString(
            Arrays.copyOf(("key " + what).getBytes(StandardCharsets.US_ASCII), DataKey.BYTES));
  }

  @Override
  public byte[] read() {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public Duration reloadInterval() {
    return Duration.ofMillis(50);
  }

  @Override
  public String describe() {
    return "the test";
  }
}
