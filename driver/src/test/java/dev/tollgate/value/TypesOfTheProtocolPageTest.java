package dev.tollgate.value;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.wire.ProtocolPage;
import dev.tollgate.wire.WireFormatException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.h2.value.Value;
import org.junit.jupiter.api.Test;

/** The tags of types in docs/protocol.md are those of the code. */
class TypesOfTheProtocolPageTest {
  private static final Pattern TAGS = Pattern.compile("(\\d+)(?: to (\\d+))?");

  @Test
  void everyTagHasItsType() throws IOException {
    List<String> onPage = new ArrayList<>();
    for (List<String> row : ProtocolPage.read().rows("tag")) {
      List<String> names = List.of(row.get(1).replace("INTERVAL ", "").split(", "));
      List<Integer> tags = tags(row.get(0));
      assertEquals(names.size(), tags.size(), row.get(0));
      boolean interval = row.get(1).startsWith("INTERVAL ");
      for (int i = 0; i < names.size(); i++) {
        onPage.add(tags.get(i) + " " + (interval ? "INTERVAL " : "") + names.get(i));
      }
    }
    List<String> inCode = new ArrayList<>();
    for (int tag = 0; tag < onPage.size(); tag++) {
      inCode.add(tag + " " + Value.getTypeName(TypeTags.typeOf(tag)));
    }
    assertEquals(inCode, onPage);
    assertThrows(WireFormatException.class, () -> TypeTags.typeOf(onPage.size()));
  }

  /** The numbers in a cell such as "2, 3" or "22 to 34". */
  private static List<Integer> tags(String cell) {
    List<Integer> tags = new ArrayList<>();
    for (MatchResult found : TAGS.matcher(cell).results().toList()) {
      int first = Integer.parseInt(found.group(1));
      int last = found.group(2) == null ? first : Integer.parseInt(found.group(2));
      for (int tag = first; tag <= last; tag++) {
        tags.add(tag);
      }
    }
    return tags;
  }
}
