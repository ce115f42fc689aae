package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NumberMapTest {
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4})
  void isATreeMapWhoseOldStatesStay(long seed) {
    Random random = new Random(seed);
    NumberMap<String> map = NumberMap.empty();
    TreeMap<Long, String> expected = new TreeMap<>();
    List<NumberMap<String>> before = new ArrayList<>();
    List<List<String>> valuesBefore = new ArrayList<>();
    for (int i = 0; i < 5_000; i++) {
      long key = random.nextInt(500);
      if (random.nextInt(5) < 3) {
        map = map.with(key, "v" + i);
        expected.put(key, "v" + i);
      } else {
        map = map.without(key);
        expected.remove(key);
      }
      assertEquals(expected.size(), map.size());
      assertEquals(expected.get(key), map.get(key));
      assertEquals(expected.isEmpty() ? null : expected.firstEntry().getValue(), map.first());
      if (i % 500 == 0) {
        before.add(map);
        valuesBefore.add(List.copyOf(expected.values()));
      }
    }
    assertEquals(List.copyOf(expected.values()), List.copyOf(map.values()));
    for (int i = 0; i < before.size(); i++) {
      assertEquals(valuesBefore.get(i), List.copyOf(before.get(i).values()));
    }
  }

  /** A tree that was not balanced would be a list, too deep for the stack. */
  @Test
  void numbersInOrderMakeNoList() {
    NumberMap<Long> map = NumberMap.empty();
    for (long i = 0; i < 200_000; i++) {
      map = map.with(i, i);
    }
    for (long i = 0; i < 199_999; i++) {
      assertEquals(i, map.first());
      map = map.without(i);
    }
    assertEquals(List.of(199_999L), List.copyOf(map.values()));
  }

  @Test
  void whatIsNotThereChangesNothing() {
    NumberMap<String> map = NumberMap.<String>empty().with(7, "x");
    assertSame(map, map.without(8));
    assertNull(map.get(8));
    Iterator<String> values = map.values().iterator();
    assertEquals("x", values.next());
    assertThrows(NoSuchElementException.class, values::next);
  }
}
