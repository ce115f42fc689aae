package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A scrape in Prometheus' text format, checked while it is read: each sample belongs to a type that
 * was named before, comes once, and the buckets of a histogram rise up to its count.
 *
 * @param types by the names of families
 * @param samples by their names with labels
 */
public record Scrape(Map<String, String> types, Map<String, Double> samples) {
  private static final Pattern SAMPLE =
      Pattern.compile("([a-z_0-9]+)(\\{(?:[a-z]+=\"[^\"\\\\]*\",?)+})? ([-+.0-9eEINaf]+)");
  private static final Pattern TYPE =
      Pattern.compile("# TYPE ([a-z_0-9]+) (counter|gauge|histogram|summary)");

  public Scrape {
    types = Map.copyOf(types);
    samples = Map.copyOf(samples);
  }

  public static Scrape parse(String text) {
    Map<String, String> types = new LinkedHashMap<>();
    Map<String, Double> samples = new LinkedHashMap<>();
    String family = "";
    double bucket = 0;
    for (String line : text.lines().toList()) {
      Matcher type = TYPE.matcher(line);
      if (type.matches()) {
        family = type.group(1);
        bucket = 0;
        assertNull(types.put(family, type.group(2)), line);
      } else if (!line.startsWith("# HELP ")) {
        Matcher sample = SAMPLE.matcher(line);
        assertTrue(sample.matches(), line);
        String name = sample.group(1);
        assertTrue(name.startsWith(family), line);
        double value = Double.parseDouble(sample.group(3).replace("Inf", "Infinity"));
        String labels = sample.group(2) == null ? "" : sample.group(2);
        assertNull(samples.put(name + labels, value), line);
        if (name.endsWith("_bucket")) {
          assertTrue(value >= bucket, line);
          bucket = value;
        } else if ("histogram".equals(types.get(family)) && name.endsWith("_count")) {
          assertEquals(bucket, value, line);
        }
      }
    }
    return new Scrape(types, samples);
  }

  /** The value of a sample, which must be there. */
  public double value(String sample) {
    Double value = samples.get(sample);
    assertNotNull(value, () -> "no sample " + sample + " in " + samples.keySet());
    return value;
  }

  /** By how much a sample has grown, which may have been missing before. */
  public double since(Scrape before, String sample) {
    return value(sample) - before.samples.getOrDefault(sample, 0.0);
  }
}
