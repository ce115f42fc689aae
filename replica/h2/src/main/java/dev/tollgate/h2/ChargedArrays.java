package dev.tollgate.h2;

import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.h2.tools.CompressTool;
import org.jspecify.annotations.Nullable;

/** Calls of the Java runtime that go through lists, arrays and bytes, counted by their length. */
public final class ChargedArrays {
  /** Elements that the runtime goes through in the time of one step. */
  private static final int PER_STEP = 8;

  /** A shorter array costs nothing beside the step of the loop in which it is made. */
  private static final int LONG = 64;

  /** Bytes that the runtime goes through in the time of one step. */
  private static final int BYTES_PER_STEP = 32;

  /** Bytes that the runtime hashes in the time of one step. */
  private static final int HASHED_PER_STEP = 4;

  /** Steps in which a byte is compressed by the slowest algorithm. */
  private static final int COMPRESSED_PER_BYTE = 4;

  /** Bytes that a hash adds to those that it is made of. */
  private static final int HASH_BLOCK = 128;

  /** Bytes of a reference. */
  private static final int REFERENCE_BYTES = 4;

  /** A list that is shorter than this grows into no large piece of memory. */
  private static final int LARGE_LIST = Meter.LARGE_BYTES / REFERENCE_BYTES / 2;

  private ChargedArrays() {}

  private static void items(int count) {
    if (count >= PER_STEP) {
      Meter.steps(count / PER_STEP);
      Meter.allocates((long) count * REFERENCE_BYTES);
    }
  }

  /**
   * Counts an array that is about to be made.
   *
   * @throws org.h2.message.DbException with SQLState 22001 if no value is as long
   */
  public static void made(int length, int elementBytes) {
    if (length > LONG) {
      ChargedTexts.requireRoom(length);
      Meter.steps(length / PER_STEP);
      Meter.allocates((long) length * elementBytes);
    }
  }

  private static void bytes(int count) {
    if (count >= BYTES_PER_STEP) {
      Meter.steps(count / BYTES_PER_STEP);
      Meter.allocates(count);
    }
  }

  /** A sort compares each element with so many others as their number has binary digits. */
  static void sort(int count) {
    Meter.steps((long) count * (Integer.SIZE - Integer.numberOfLeadingZeros(count)));
  }

  private static void hashed(int count) {
    Meter.steps((count + HASH_BLOCK) / HASHED_PER_STEP);
  }

  /** A list grows by half, so that it has grown about once when its length has doubled. */
  @Replaces(
      of = {
        "java.util.Collection",
        "java.util.List",
        "java.util.Set",
        "java.util.ArrayList",
        "java.util.HashSet",
        "java.util.TreeSet"
      })
  public static boolean add(Collection<@Nullable Object> list, @Nullable Object element) {
    int size = list.size();
    if (size >= LARGE_LIST && Integer.bitCount(size) == 1) {
      Meter.allocates(2L * size * REFERENCE_BYTES);
    }
    Meter.retains(element);
    return list.add(element);
  }

  @Replaces(of = {"java.util.Map", "java.util.HashMap", "java.util.TreeMap"})
  public static @Nullable Object put(
      Map<@Nullable Object, @Nullable Object> map, @Nullable Object key, @Nullable Object value) {
    Meter.retains(key);
    Meter.retains(value);
    return map.put(key, value);
  }

  @Replaces(of = {"java.util.Map", "java.util.HashMap", "java.util.TreeMap"})
  public static @Nullable Object putIfAbsent(
      Map<@Nullable Object, @Nullable Object> map, @Nullable Object key, @Nullable Object value) {
    Meter.retains(key);
    Meter.retains(value);
    return map.putIfAbsent(key, value);
  }

  @Replaces(of = {"java.util.Collection", "java.util.List", "java.util.ArrayList"})
  public static @Nullable Object[] toArray(
      Collection<@Nullable Object> list, @Nullable Object[] array) {
    Meter.allocates((long) list.size() * REFERENCE_BYTES);
    return list.toArray(array);
  }

  @Replaces(of = {"java.util.Collection", "java.util.List", "java.util.ArrayList"})
  public static boolean contains(Collection<?> list, @Nullable Object element) {
    items(list.size());
    return list.contains(element);
  }

  @Replaces(of = {"java.util.List", "java.util.ArrayList"})
  public static int indexOf(List<?> list, @Nullable Object element) {
    items(list.size());
    return list.indexOf(element);
  }

  @Replaces(of = {"java.util.List", "java.util.ArrayList"})
  public static boolean remove(List<?> list, @Nullable Object element) {
    items(list.size());
    return list.remove(element);
  }

  @Replaces(of = {"java.util.List", "java.util.ArrayList"})
  public static @Nullable Object remove(List<?> list, int index) {
    items(list.size() - index);
    return list.remove(index);
  }

  @Replaces(of = {"java.util.List", "java.util.ArrayList"})
  public static void add(List<@Nullable Object> list, int index, @Nullable Object element) {
    items(list.size() - index);
    list.add(index, element);
  }

  @Replaces(of = "java.util.ArrayList")
  public static <X> void sort(List<X> list, Comparator<? super X> order) {
    sort(list.size());
    list.sort(order);
  }

  @Replaces(of = "java.util.Collections", method = "sort", isStatic = true)
  public static <X> void sortList(List<X> list, Comparator<? super X> order) {
    sort(list.size());
    Collections.sort(list, order);
  }

  @Replaces(of = "java.util.Arrays", isStatic = true)
  public static <X> void sort(X[] array, Comparator<? super X> order) {
    sort(array.length);
    Arrays.sort(array, order);
  }

  @Replaces(of = "java.util.Arrays", isStatic = true)
  public static <X> void sort(X[] array, int from, int to, Comparator<? super X> order) {
    sort(to - from);
    Arrays.sort(array, from, to, order);
  }

  @Replaces(of = "java.util.Arrays", isStatic = true)
  public static byte[] copyOf(byte[] array, int length) {
    bytes(length);
    return Arrays.copyOf(array, length);
  }

  @Replaces(of = "java.util.Arrays", isStatic = true)
  public static <X> X[] copyOf(X[] array, int length) {
    items(length);
    return Arrays.copyOf(array, length);
  }

  @Replaces(of = "java.util.Arrays", isStatic = true)
  public static byte[] copyOfRange(byte[] array, int from, int to) {
    bytes(to - from);
    return Arrays.copyOfRange(array, from, to);
  }

  @Replaces(of = "java.util.Arrays", isStatic = true)
  public static boolean equals(byte[] array, byte[] other) {
    bytes(Math.min(array.length, other.length));
    return Arrays.equals(array, other);
  }

  @Replaces(of = "java.util.Arrays", isStatic = true)
  public static int compareUnsigned(byte[] array, byte[] other) {
    bytes(Math.min(array.length, other.length));
    return Arrays.compareUnsigned(array, other);
  }

  @Replaces(of = "java.util.Arrays", isStatic = true)
  public static void fill(char[] array, char value) {
    bytes(array.length);
    Arrays.fill(array, value);
  }

  @Replaces(of = "java.lang.System", isStatic = true)
  public static void arraycopy(Object from, int at, Object to, int place, int length) {
    items(length);
    System.arraycopy(from, at, to, place, length);
  }

  @Replaces(of = "org.h2.tools.CompressTool")
  public static byte[] compress(CompressTool tool, byte[] bytes, @Nullable String algorithm) {
    Meter.steps((long) bytes.length * COMPRESSED_PER_BYTE);
    return tool.compress(bytes, algorithm);
  }

  @Replaces(of = "java.security.MessageDigest")
  public static void update(MessageDigest digest, byte[] bytes) {
    hashed(bytes.length);
    digest.update(bytes);
  }

  @Replaces(of = "java.security.MessageDigest")
  public static void update(MessageDigest digest, byte[] bytes, int from, int length) {
    hashed(length);
    digest.update(bytes, from, length);
  }

  @Replaces(of = "java.security.MessageDigest")
  public static byte[] digest(MessageDigest digest) {
    hashed(0);
    return digest.digest();
  }

  @Replaces(of = "java.security.MessageDigest")
  public static byte[] digest(MessageDigest digest, byte[] bytes) {
    hashed(bytes.length);
    return digest.digest(bytes);
  }
}
