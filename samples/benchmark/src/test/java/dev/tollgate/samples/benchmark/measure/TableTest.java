package dev.tollgate.samples.benchmark.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TableTest {
  private static Sample sample(double p50, double operations) {
    return Sample.empty().with(Metric.OPERATIONS, operations).with(Metric.P50, p50);
  }

  private static Result result() {
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    samples.put("tollgate", List.of(sample(200, 1000), sample(100, 2000)));
    samples.put("etcd", List.of(sample(400, 500), sample(400, 500)));
    samples.put("other", List.of(Sample.empty().with(Metric.P50, 1), Sample.empty()));
    return new Result("latency", "1 client", samples, Map.of("redis", "cannot"));
  }

  @Test
  void showsMediansRangesRatiosAndWhoIsAbsent() {
    assertEquals(
        """

        ### latency: 1 client

        | median (range) |         p50 us |             ops/s |
        |----------------|---------------:|------------------:|
        | tollgate       | 150 (100..200) | 1500 (1000..2000) |
        | etcd           | 400 (400..400) |    500 (500..500) |
        | other          |                |                   |

        | ratio per round: median (range) |             p50 us |     ops/s |
        |---------------------------------|-------------------:|----------:|
        | tollgate / etcd                 | 0.38x (0.25..0.50) | 3x (2..4) |
        | tollgate / other                |                    |           |

        not here: redis: cannot
        """,
        Table.of(result()));
  }

  @Test
  void jsonHasEveryRound() {
    Map<String, List<Sample>> samples = Map.of("toll\"gate", List.of(sample(1, 2), sample(3, 4)));
    assertEquals(
        """
        {
          "at": "now",
          "results": [
            {"scenario": "latency", "case": "1 client", "absent": {"redis": "can\\\\not\\u000a"}, "entrants": {
              "toll\\"gate": [{"p50 us": 1.000, "ops/s": 2.000}, {"p50 us": 3.000, "ops/s": 4.000}]
            }}
          ]
        }
        """,
        Json.of(
            Map.of("at", "now"),
            List.of(new Result("latency", "1 client", samples, Map.of("redis", "can\\not\n")))));
  }
}
