package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What Ratis keeps in memory fits the heap. */
class RatisPropertiesTest {
  @ParameterizedTest
  @CsvSource({
    "1048576, 1048576",
    "134217728, 1048576",
    "314572800, 2457600",
    "1073741824, 8388608",
    "4294967296, 33554432",
    "1099511627776, 33554432"
  })
  void segmentsAreSmallWhereTheHeapIs(long heapBytes, long segmentBytes) {
    assertEquals(segmentBytes, RatisProperties.largestSegment(heapBytes));
  }
}
