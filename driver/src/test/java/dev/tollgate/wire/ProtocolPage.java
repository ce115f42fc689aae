package dev.tollgate.wire;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** docs/protocol.md as a machine reads it: its tables, and the bytes that a table tells of. */
public final class ProtocolPage {
  private static final Path PAGE = Path.of("..", "docs", "protocol.md");
  private static final String UNLESS_AT_END = " unless the body ends";
  private static final Pattern IN_PARENTHESES = Pattern.compile(" *\\([^)]*\\)");
  private static final Pattern CONDITION =
      Pattern.compile("(.*) if (?:[A-Za-z ]+) is (\\d+)( or higher)?");
  private static final Pattern STRUCTURE = Pattern.compile("(?:.*? )??(list of )?\\*([a-z ]+)\\*");
  private static final Pattern TYPE =
      Pattern.compile("(?:.*? )??(list of )?(u8|u16|i32|i64|flag|string\\??|bytes|rest)");

  private final String text;

  private ProtocolPage(String text) {
    this.text = text;
  }

  public static ProtocolPage read() throws IOException {
    return new ProtocolPage(Files.readString(PAGE));
  }

  public String text() {
    return text;
  }

  /** The rows of all tables whose head begins with this cell. */
  public List<List<String>> rows(String firstHead) {
    String head = "(?m)^\\| " + Pattern.quote(firstHead) + " \\|.*\n\\|[-|]+\\|\n((?:\\|.*\n)+)";
    return Pattern.compile(head)
        .matcher(text)
        .results()
        .flatMap(table -> table.group(1).lines())
        .map(row -> Stream.of(row.split("\\|", -1)).skip(1).map(String::strip).toList())
        .map(cells -> cells.subList(0, cells.size() - 1))
        .toList();
  }

  /**
   * Reads the body of a message, field by field as the page has them.
   *
   * @param fields as in a cell of the page: a comma between two, each with its type at the end
   * @throws WireFormatException if the bytes are not those fields
   */
  void read(byte[] body, String fields) {
    WireReader in = new WireReader(body);
    readFields(in, fields);
    in.expectEnd();
  }

  private void readFields(WireReader in, String fields) {
    // what the condition of a later field is about: the number before it
    long[] last = {-1};
    for (String field : IN_PARENTHESES.matcher(fields).replaceAll("").split(", *", -1)) {
      Matcher condition = CONDITION.matcher(field);
      if (field.endsWith(UNLESS_AT_END)) {
        if (in.remaining() > 0) {
          readField(in, field.substring(0, field.length() - UNLESS_AT_END.length()), last);
        }
      } else if (!condition.matches()) {
        readField(in, field, last);
      } else {
        long wanted = Long.parseLong(condition.group(2));
        boolean holds = condition.group(3) == null ? last[0] == wanted : last[0] >= wanted;
        if (holds) {
          readField(in, condition.group(1), last);
        }
      }
    }
  }

  private void readField(WireReader in, String field, long[] last) {
    Matcher structure = STRUCTURE.matcher(field);
    Matcher type = TYPE.matcher(field);
    if (field.isEmpty()) {
      return;
    }
    if (structure.matches()) {
      String fields = structures().get(structure.group(2));
      if (fields == null) {
        throw new IllegalStateException("the page has no structure *" + structure.group(2) + "*");
      }
      for (int i = structure.group(1) == null ? 1 : in.count(1); i > 0; i--) {
        readFields(in, fields);
      }
    } else if (type.matches()) {
      for (int i = type.group(1) == null ? 1 : in.count(1); i > 0; i--) {
        readValue(in, type.group(2), last);
      }
    } else {
      throw new IllegalStateException("a field without a type: " + field);
    }
  }

  private static void readValue(WireReader in, String type, long[] last) {
    switch (type) {
      case "u8" -> last[0] = in.u8();
      case "u16" -> last[0] = in.u16();
      case "flag" -> last[0] = in.flag() ? 1 : 0;
      case "i32" -> in.i32();
      case "i64" -> in.i64();
      case "string" -> in.string();
      case "string?" -> in.nullableString();
      case "bytes" -> in.bytes();
      case "rest" -> in.rest();
      default -> throw new IllegalStateException(type);
    }
  }

  private Map<String, String> structures() {
    Map<String, String> structures = new TreeMap<>();
    for (List<String> row : rows("structure")) {
      structures.put(row.get(0).replace("*", ""), row.get(1));
    }
    return structures;
  }
}
