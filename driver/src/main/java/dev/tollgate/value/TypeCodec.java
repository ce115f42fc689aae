package dev.tollgate.value;

import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import org.h2.message.DbException;
import org.h2.value.ExtTypeInfo;
import org.h2.value.ExtTypeInfoEnum;
import org.h2.value.ExtTypeInfoGeometry;
import org.h2.value.ExtTypeInfoNumeric;
import org.h2.value.ExtTypeInfoRow;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * Encodes SQL types as bytes: tag u8, declared precision i64, declared scale i32 (-1 where not
 * declared), and the attributes that the type needs.
 */
final class TypeCodec {
  private static final int MAX_DEPTH = 32;
  private static final int NOTHING_MORE = 0;
  private static final int LABELS = 1;
  private static final int ELEMENT = 2;
  private static final int FIELDS = 3;
  private static final int GEOMETRY = 4;
  private static final int DECIMAL = 5;

  private TypeCodec() {}

  /**
   * Writes a type, as it would be if it were declared: the result of a function may have a scale
   * that its type does not have. A type that has no tag is written as CHARACTER VARYING.
   */
  static void write(WireWriter out, TypeInfo type) {
    int tag = TypeTags.tagOf(type.getValueType());
    if (tag < 0) {
      write(out, TypeInfo.TYPE_VARCHAR);
      return;
    }
    ExtTypeInfo more = attributes(type);
    TypeInfo declared =
        TypeInfo.getTypeInfo(
            type.getValueType(), type.getDeclaredPrecision(), type.getDeclaredScale(), more);
    out.u8(tag).i64(declared.getDeclaredPrecision()).i32(declared.getDeclaredScale());
    if (more instanceof ExtTypeInfoEnum labels) {
      out.u8(LABELS).i32(labels.getCount());
      for (int i = 0; i < labels.getCount(); i++) {
        out.string(labels.getEnumerator(i));
      }
    } else if (more instanceof TypeInfo element) {
      out.u8(ELEMENT);
      write(out, element);
    } else if (more instanceof ExtTypeInfoRow row) {
      out.u8(FIELDS).i32(row.getFields().size());
      for (Map.Entry<String, TypeInfo> field : row.getFields()) {
        out.string(field.getKey());
        write(out, field.getValue());
      }
    } else if (more instanceof ExtTypeInfoGeometry geometry) {
      Integer srid = geometry.getSrid();
      out.u8(GEOMETRY).i32(geometry.getType()).flag(srid != null).i32(srid == null ? 0 : srid);
    } else if (more instanceof ExtTypeInfoNumeric) {
      out.u8(DECIMAL);
    } else {
      out.u8(NOTHING_MORE);
    }
  }

  /** An array has elements, and a row has fields, also where H2 does not know of which type. */
  private static @Nullable ExtTypeInfo attributes(TypeInfo type) {
    ExtTypeInfo known = type.getExtTypeInfo();
    if (type.getValueType() == Value.ARRAY && known == null) {
      return TypeInfo.TYPE_NULL;
    }
    return type.getValueType() == Value.ROW && known == null
        ? new ExtTypeInfoRow(new LinkedHashMap<>())
        : known;
  }

  /**
   * Reads a type.
   *
   * @throws WireFormatException if the bytes are not a type
   */
  static TypeInfo read(WireReader in) {
    try {
      return read(in, 0);
    } catch (DbException e) {
      throw new WireFormatException("not a type: " + e.getMessage());
    }
  }

  private static TypeInfo read(WireReader in, int depth) {
    if (depth > MAX_DEPTH) {
      throw new WireFormatException("type nested deeper than " + MAX_DEPTH);
    }
    int valueType = TypeTags.typeOf(in.u8());
    long precision = in.i64();
    int scale = in.i32();
    ExtTypeInfo more = readMore(in, depth);
    boolean fits =
        switch (valueType) {
          case Value.ENUM -> more == null || more instanceof ExtTypeInfoEnum;
          case Value.ARRAY -> more instanceof TypeInfo;
          case Value.ROW -> more instanceof ExtTypeInfoRow;
          case Value.GEOMETRY -> more == null || more instanceof ExtTypeInfoGeometry;
          case Value.NUMERIC -> more == null || more instanceof ExtTypeInfoNumeric;
          default -> more == null;
        };
    if (!fits) {
      throw new WireFormatException("type " + valueType + " with the attributes of another");
    }
    return TypeInfo.getTypeInfo(valueType, precision, scale, more);
  }

  private static @Nullable ExtTypeInfo readMore(WireReader in, int depth) {
    int kind = in.u8();
    return switch (kind) {
      case NOTHING_MORE -> null;
      case LABELS -> {
        String[] labels = new String[in.count(4)];
        for (int i = 0; i < labels.length; i++) {
          labels[i] = in.string();
        }
        yield new ExtTypeInfoEnum(labels);
      }
      case ELEMENT -> read(in, depth + 1);
      case FIELDS -> {
        LinkedHashMap<String, TypeInfo> fields = new LinkedHashMap<>();
        for (int i = in.count(4); i > 0; i--) {
          String name = in.string();
          fields.put(name, read(in, depth + 1));
        }
        yield new ExtTypeInfoRow(fields);
      }
      case GEOMETRY -> {
        int geometryType = in.i32();
        boolean hasSrid = in.flag();
        int srid = in.i32();
        yield new ExtTypeInfoGeometry(geometryType, hasSrid ? (Integer) srid : null);
      }
      case DECIMAL -> ExtTypeInfoNumeric.DECIMAL;
      default -> throw new WireFormatException("type attribute " + kind);
    };
  }
}
