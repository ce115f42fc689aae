package dev.tollgate.value;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.h2.engine.CastDataProvider;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * The description of a parameter that has no value yet.
 *
 * @param type {@link TypeInfo#TYPE_UNKNOWN} if the statement does not determine it
 * @param nullable as in {@link Column}
 */
public record Parameter(TypeInfo type, int nullable) {
  public Parameter {
    requireNonNull(type, "type");
  }

  /** The parameter description of {@code Reply.Prepared}: count u16, then type and nullable u8. */
  public static byte[] encode(List<Parameter> parameters) {
    WireWriter out = new WireWriter();
    out.u16(parameters.size());
    for (Parameter parameter : parameters) {
      TypeCodec.write(out, parameter.type());
      out.u8(parameter.nullable());
    }
    return out.toByteArray();
  }

  /** Reads what {@link #encode} wrote. */
  public static List<Parameter> decode(byte[] description) {
    WireReader in = new WireReader(description);
    List<Parameter> parameters = new ArrayList<>();
    for (int i = in.u16(); i > 0; i--) {
      parameters.add(new Parameter(TypeCodec.read(in), in.u8()));
    }
    in.expectEnd();
    return parameters;
  }

  /** A parameter set: count u16, then the values. */
  public static byte[] encodeValues(List<? extends Value> values) {
    WireWriter out = new WireWriter();
    out.u16(values.size());
    for (Value value : values) {
      ValueCodec.write(out, value);
    }
    return out.toByteArray();
  }

  /** Reads what {@link #encodeValues} wrote. */
  public static List<Value> decodeValues(byte[] set, @Nullable CastDataProvider provider) {
    return decode(set, in -> ValueCodec.read(in, null, provider));
  }

  /**
   * Reads a parameter set that a client sent, before any other code reads it.
   *
   * @throws WireFormatException if the set is malformed, or would take long to read
   */
  public static List<Value> decodeSent(byte[] set) {
    return decode(set, ValueCodec::readSent);
  }

  private static List<Value> decode(byte[] set, Function<WireReader, Value> value) {
    WireReader in = new WireReader(set);
    int count = in.u16();
    List<Value> values = new ArrayList<>(Math.min(count, in.remaining()));
    for (int i = 0; i < count; i++) {
      values.add(value.apply(in));
    }
    in.expectEnd();
    return values;
  }
}
