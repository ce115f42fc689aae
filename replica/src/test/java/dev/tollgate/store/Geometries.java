package dev.tollgate.store;

import dev.tollgate.wire.WireWriter;
import org.h2.value.Value;
import org.h2.value.ValueVarbinary;

/** Geometries that are nested as deep as one likes. */
final class Geometries {
  private static final int COLLECTION = 7;

  private Geometries() {}

  /**
   * The text of one.
   *
   * @param parentheses how many are within each other
   */
  static String nestedText(int parentheses) {
    int levels = parentheses - 1;
    return "GEOMETRYCOLLECTION(".repeat(levels) + "POINT(1 2)" + ")".repeat(levels);
  }

  /** The EWKB of one: an empty collection within so many collections of one collection each. */
  static Value nestedBytes(int levels) {
    WireWriter ewkb = new WireWriter();
    for (int i = 1; i <= levels + 1; i++) {
      ewkb.u8(0).i32(COLLECTION).i32(i == levels + 1 ? 0 : 1);
    }
    return ValueVarbinary.get(ewkb.toByteArray());
  }
}
