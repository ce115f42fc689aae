package dev.tollgate.value;

import dev.tollgate.wire.WireFormatException;
import java.util.Arrays;
import org.h2.value.Value;

/** The protocol's numbers for H2's types: the index in this table. Add types only at the end. */
final class TypeTags {
  private static final int[] TYPE_BY_TAG = {
    Value.NULL,
    Value.BOOLEAN,
    Value.TINYINT,
    Value.SMALLINT,
    Value.INTEGER,
    Value.BIGINT,
    Value.REAL,
    Value.DOUBLE,
    Value.NUMERIC,
    Value.DECFLOAT,
    Value.CHAR,
    Value.VARCHAR,
    Value.VARCHAR_IGNORECASE,
    Value.CLOB,
    Value.BINARY,
    Value.VARBINARY,
    Value.BLOB,
    Value.DATE,
    Value.TIME,
    Value.TIME_TZ,
    Value.TIMESTAMP,
    Value.TIMESTAMP_TZ,
    Value.INTERVAL_YEAR,
    Value.INTERVAL_MONTH,
    Value.INTERVAL_DAY,
    Value.INTERVAL_HOUR,
    Value.INTERVAL_MINUTE,
    Value.INTERVAL_SECOND,
    Value.INTERVAL_YEAR_TO_MONTH,
    Value.INTERVAL_DAY_TO_HOUR,
    Value.INTERVAL_DAY_TO_MINUTE,
    Value.INTERVAL_DAY_TO_SECOND,
    Value.INTERVAL_HOUR_TO_MINUTE,
    Value.INTERVAL_HOUR_TO_SECOND,
    Value.INTERVAL_MINUTE_TO_SECOND,
    Value.UUID,
    Value.ENUM,
    Value.JSON,
    Value.GEOMETRY,
    Value.ARRAY,
    Value.ROW,
    // a parameter whose type the statement does not determine; no value has this type
    Value.UNKNOWN,
  };

  /** Indexed by H2's type number plus one, because UNKNOWN is -1; -1 where there is no tag. */
  private static final int[] TAG_BY_TYPE = new int[Value.TYPE_COUNT + 1];

  static {
    Arrays.fill(TAG_BY_TYPE, -1);
    for (int tag = 0; tag < TYPE_BY_TAG.length; tag++) {
      TAG_BY_TYPE[TYPE_BY_TAG[tag] + 1] = tag;
    }
  }

  private TypeTags() {}

  /** The tag of one of H2's types, or -1 for a type that is never sent: JAVA_OBJECT. */
  static int tagOf(int valueType) {
    return TAG_BY_TYPE[valueType + 1];
  }

  static int typeOf(int tag) {
    if (tag >= TYPE_BY_TAG.length) {
      throw new WireFormatException("type tag " + tag);
    }
    return TYPE_BY_TAG[tag];
  }
}
