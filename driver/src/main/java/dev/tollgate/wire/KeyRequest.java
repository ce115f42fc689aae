package dev.tollgate.wire;

import java.util.ArrayList;
import java.util.List;

/** Which generated keys an EXECUTE asks for. */
public sealed interface KeyRequest {
  /** None. */
  record None() implements KeyRequest {}

  /** Whatever the database generated. */
  record Generated() implements KeyRequest {}

  /** The columns at these positions, from 1. */
  record Positions(List<Integer> positions) implements KeyRequest {
    public Positions {
      positions = List.copyOf(positions);
    }
  }

  /** The columns of these names. */
  record Names(List<String> names) implements KeyRequest {
    public Names {
      names = List.copyOf(names);
    }
  }

  /** Appends this request. */
  default void write(WireWriter out) {
    if (this instanceof Generated) {
      out.u8(1);
    } else if (this instanceof Positions columns) {
      out.u8(2).i32(columns.positions().size());
      columns.positions().forEach(out::i32);
    } else if (this instanceof Names columns) {
      out.u8(3).i32(columns.names().size());
      columns.names().forEach(out::string);
    } else {
      out.u8(0);
    }
  }

  /** Reads what {@link #write} wrote. */
  static KeyRequest read(WireReader in) {
    int kind = in.u8();
    return switch (kind) {
      case 0 -> new None();
      case 1 -> new Generated();
      case 2 -> {
        List<Integer> positions = new ArrayList<>();
        for (int i = in.count(4); i > 0; i--) {
          positions.add(in.i32());
        }
        yield new Positions(positions);
      }
      case 3 -> {
        List<String> names = new ArrayList<>();
        for (int i = in.count(4); i > 0; i--) {
          names.add(in.string());
        }
        yield new Names(names);
      }
      default -> throw new WireFormatException("key request " + kind);
    };
  }
}
