package dev.tollgate.h2;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class OrderedMapTest {
  private static final List<Consumer<Map<String, Integer>>> CHANGES =
      List.of(
          map -> map.put("c", 3),
          map -> map.put("a", 1),
          map -> map.putAll(Map.of("z", 26, "b", 2)),
          map -> map.putIfAbsent("y", 25),
          map -> map.replace("y", 24),
          map -> map.replace("y", 24, 23),
          map -> map.computeIfAbsent("m", key -> 13),
          map -> map.computeIfPresent("m", (key, value) -> 14),
          map -> map.compute("n", (key, value) -> 15),
          map -> map.merge("n", 1, Integer::sum),
          map -> map.remove("a"),
          map -> map.remove("b", 2),
          Map::clear,
          map -> map.put("d", 4));

  /** After each change, and as a map that sorts its keys. */
  @Test
  void valuesComeInTheOrderOfKeys() {
    Map<String, Integer> map = new OrderedMap<>();
    Map<String, Integer> sorted = new TreeMap<>();
    for (Consumer<Map<String, Integer>> change : CHANGES) {
      change.accept(map);
      change.accept(sorted);
      assertEquals(new ArrayList<>(sorted.values()), new ArrayList<>(map.values()));
    }
  }

  /** However large the map once was. */
  @Test
  void orderDoesNotDependOnHistory() {
    Map<String, Integer> large = new OrderedMap<>();
    for (int i = 0; i < 10_000; i++) {
      large.put("t" + i, i);
    }
    for (int i = 10; i < 10_000; i++) {
      large.remove("t" + i);
    }
    assertEquals(List.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), new ArrayList<>(large.values()));
  }
}
