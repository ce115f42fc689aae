package dev.tollgate.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Values of a stranger: refused with one kind of exception, and without much memory. */
class HostileValuesTest {
  private static final int ROUNDS = 30_000;
  private static final int MAX_GROWTH = 200;

  private final long seed = Long.getLong("tollgate.seed", System.nanoTime());
  private final Random random = new Random(seed);

  @Test
  void randomBytesAreRefused() {
    checkRandomBytes(ROUNDS);
  }

  @Tag("nightly")
  @Test
  void manyRandomBytesAreRefused() {
    checkRandomBytes(10 * ROUNDS);
  }

  private void checkRandomBytes(int rounds) {
    for (int i = 0; i < rounds; i++) {
      byte[] bytes = new byte[random.nextInt(100)];
      random.nextBytes(bytes);
      if (bytes.length > 0 && random.nextBoolean()) {
        bytes[0] = (byte) random.nextInt(42);
      }
      check(bytes);
    }
  }

  @Test
  void valuesWithFlippedBytesAreRefusedOrRead() {
    checkFlippedBytes(ROUNDS);
  }

  @Tag("nightly")
  @Test
  void manyValuesWithFlippedBytesAreRefusedOrRead() {
    checkFlippedBytes(10 * ROUNDS);
  }

  private void checkFlippedBytes(int rounds) {
    List<byte[]> originals = new ArrayList<>();
    for (Value value : ValuesTest.values()) {
      WireWriter out = new WireWriter();
      ValueCodec.write(out, value);
      if (out.size() < 10_000) {
        originals.add(out.toByteArray());
      }
    }
    for (TypeInfo type : ValuesTest.types()) {
      WireWriter out = new WireWriter();
      TypeCodec.write(out, type);
      originals.add(out.toByteArray());
    }
    for (int i = 0; i < rounds; i++) {
      byte[] bytes = originals.get(random.nextInt(originals.size())).clone();
      for (int n = 1 + random.nextInt(3); n > 0; n--) {
        bytes[random.nextInt(bytes.length)] =
            (byte) (random.nextBoolean() ? random.nextInt() : random.nextInt(2) * 255);
      }
      check(random.nextInt(4) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length)) : bytes);
    }
  }

  private void check(byte[] bytes) {
    attempt(bytes, in -> ValueCodec.read(in, null, null).getString());
    attempt(bytes, in -> ValueCodec.read(in, ValuesTest.COLOUR, null));
    attempt(bytes, TypeCodec::read);
    attempt(bytes, in -> StatementResult.read(in.rest(), null));
    attempt(bytes, in -> Parameter.decode(in.rest()));
    attempt(bytes, in -> Parameter.decodeValues(in.rest(), null));
  }

  private void attempt(byte[] bytes, Consumer<WireReader> reader) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    try {
      reader.accept(new WireReader(bytes));
    } catch (WireFormatException e) {
      // refused, as it should be
    } catch (RuntimeException | Error e) {
      fail("tollgate.seed=" + seed + ": " + Arrays.toString(bytes), e);
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertTrue(
        allocated <= 1_000_000 + (long) MAX_GROWTH * bytes.length,
        "tollgate.seed=" + seed + ": " + Arrays.toString(bytes) + " took " + allocated);
  }

  /** What has no columns takes no bytes, so a count is all that is sent. */
  @Test
  void manyRowsWithoutColumnsTakeLittle() {
    for (int kind : new int[] {StatementResult.ROWS, StatementResult.CHANGED_ROWS}) {
      check(emptyRows(kind, 100_000));
    }
    WireReader tooMany = new WireReader(emptyRows(StatementResult.ROWS, 100_001));
    assertThrows(WireFormatException.class, () -> StatementResult.read(tooMany.rest(), null));
  }

  private static byte[] emptyRows(int kind, int rows) {
    return new WireWriter().u8(kind).u16(0).i64(rows).i64(0).i32(rows).toByteArray();
  }

  /** Each level claims as many elements as there are bytes left. */
  @Test
  void nestedArraysThatClaimMuchTakeLittle() {
    WireWriter out = new WireWriter();
    for (int level = 0; level < 30; level++) {
      out.u8(TypeTags.tagOf(Value.ARRAY)).i32(900_000);
    }
    out.raw(new byte[1_000_000], 0, 1_000_000);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    attemptQuietly(out.toByteArray());
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertTrue(allocated < 40_000_000, allocated + " bytes for 1 MB");
  }

  private static void attemptQuietly(byte[] bytes) {
    try {
      ValueCodec.read(new WireReader(bytes), null, null);
    } catch (WireFormatException e) {
      // refused, as it should be
    }
  }

  @Test
  void whatIsNestedTooDeepIsRefused() {
    WireWriter arrays = new WireWriter();
    WireWriter types = new WireWriter();
    for (int level = 0; level < 40; level++) {
      arrays.u8(TypeTags.tagOf(Value.ARRAY)).i32(1);
      types.u8(TypeTags.tagOf(Value.ARRAY)).i64(-1).i32(-1).u8(2);
    }
    arrays.u8(0);
    types.u8(0).i64(-1).i32(-1).u8(0);
    refused(arrays, in -> ValueCodec.read(in, null, null));
    assertEquals(
        Value.ARRAY,
        ValueCodec.readStored(new WireReader(arrays.toByteArray()), null, null).getValueType());
    refused(types, TypeCodec::read);
  }

  @Test
  void jsonNestedTooDeepIsRefused() {
    for (String open : List.of("[", "{\"a\":")) {
      byte[] json = open.repeat(300_000).getBytes(java.nio.charset.StandardCharsets.UTF_8);
      refused(
          new WireWriter().u8(TypeTags.tagOf(Value.JSON)).bytes(json),
          in -> ValueCodec.read(in, null, null));
    }
  }

  @Test
  void geometryNestedTooDeepIsRefused() {
    WireWriter geometry = new WireWriter();
    for (int level = 0; level < 300_000; level++) {
      // big-endian, geometry collection, of one
      geometry.u8(0).i32(7).i32(1);
    }
    refused(
        new WireWriter().u8(TypeTags.tagOf(Value.GEOMETRY)).bytes(geometry.toByteArray()),
        in -> ValueCodec.read(in, null, null));
  }

  @Test
  void hugeNumbersInFewBytesAreRefused() {
    for (int scale : new int[] {Integer.MIN_VALUE, -100_001, 100_001, Integer.MAX_VALUE}) {
      refused(
          new WireWriter().u8(TypeTags.tagOf(Value.NUMERIC)).i32(scale).bytes(new byte[] {1}),
          in -> ValueCodec.read(in, null, null));
    }
  }

  private static void refused(WireWriter out, Consumer<WireReader> reader) {
    WireReader in = new WireReader(out.toByteArray());
    assertThrows(WireFormatException.class, () -> reader.accept(in));
  }
}
