package dev.tollgate.store;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.h2.bnf.Bnf;
import org.h2.bnf.BnfVisitor;
import org.h2.bnf.Rule;
import org.h2.bnf.RuleFixed;
import org.h2.bnf.RuleHead;
import org.h2.expression.aggregate.AggregateType;
import org.h2.expression.analysis.WindowFunctionType;
import org.h2.expression.function.BuiltinFunctions;
import org.h2.tools.Csv;
import org.h2.util.Utils;
import org.jspecify.annotations.Nullable;

/**
 * Random sentences of the grammar that H2 brings with it for its HELP, in which every function,
 * statement and data type of this version stands. What H2 has beyond its help is called by name.
 */
final class OddGrammar implements BnfVisitor {
  /** Decides what stands for a word of the grammar. */
  interface Words {
    /**
     * The text for a word of the grammar, or null if the rule of the grammar gives it.
     *
     * @param word in lower case with underscores, for example {@code search_string}
     * @param depth how many rules are open
     */
    @Nullable String of(String word, int depth);
  }

  private static final String HELP = "/org/h2/res/help.csv";
  private static final int DEEP = 14;

  private final Random random;
  private final Words words;
  private final Bnf grammar;
  private final Map<String, List<String>> topics = new LinkedHashMap<>();
  private final List<String> otherFunctions;
  private final StringBuilder text = new StringBuilder();
  private int depth;

  OddGrammar(Random random, Words words) {
    this.random = random;
    this.words = words;
    try {
      grammar = Bnf.getInstance(null);
      readTopics();
    } catch (SQLException | IOException e) {
      throw new IllegalStateException("H2 has no help", e);
    }
    grammar.addAlias("procedure", "@func@");
    grammar.linkStatements();
    otherFunctions = functionsBeyondHelp();
  }

  private void readTopics() throws SQLException, IOException {
    Csv csv = new Csv();
    csv.setLineCommentCharacter('#');
    byte[] help = Utils.getResource(HELP);
    try (ResultSet rows =
        csv.read(
            new InputStreamReader(new ByteArrayInputStream(help), StandardCharsets.UTF_8), null)) {
      while (rows.next()) {
        topics
            .computeIfAbsent(rows.getString("SECTION").trim(), section -> new ArrayList<>())
            .add(rows.getString("TOPIC").trim().replace(' ', '_').toLowerCase(Locale.ROOT));
      }
    }
  }

  /** The topics of the sections whose names begin so. */
  List<String> topics(String section) {
    return topics.entrySet().stream()
        .filter(entry -> entry.getKey().startsWith(section))
        .flatMap(entry -> entry.getValue().stream())
        .toList();
  }

  /** Functions that are built in, and that no topic of the help names. */
  List<String> otherFunctions() {
    return otherFunctions;
  }

  private List<String> functionsBeyondHelp() {
    Set<String> names = new TreeSet<>(builtin());
    Arrays.stream(AggregateType.values()).map(Enum::name).forEach(names::add);
    Arrays.stream(WindowFunctionType.values()).map(Enum::name).forEach(names::add);
    topics.values().stream()
        .flatMap(List::stream)
        .map(topic -> topic.toUpperCase(Locale.ROOT))
        .forEach(names::remove);
    return List.copyOf(names);
  }

  @SuppressWarnings("unchecked")
  private static Set<String> builtin() {
    try {
      var field = BuiltinFunctions.class.getDeclaredField("FUNCTIONS");
      field.setAccessible(true);
      return (Set<String>) field.get(null);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("H2 keeps its functions elsewhere", e);
    }
  }

  /** A random sentence of a topic. */
  String sentence(String topic) {
    RuleHead head = grammar.getRuleHead(topic);
    if (head == null) {
      throw new IllegalArgumentException("H2's help has no topic " + topic);
    }
    int start = text.length();
    head.getRule().accept(this);
    String sentence = text.substring(start).trim();
    text.setLength(start);
    // the grammar writes some words in quotes, letter by letter
    return sentence.replaceAll("'\\s+(\\w+)\\s+'", "'$1'").replaceAll("\\s*;\\s*$", "");
  }

  private void add(String word) {
    text.append(' ').append(word);
  }

  @Override
  public void visitRuleElement(boolean keyword, String name, Rule link) {
    if (keyword) {
      String instead = name.equals("?") ? words.of("?", depth) : null;
      add(instead == null ? name : instead);
      return;
    }
    String chosen = words.of(Bnf.getRuleMapKey(name), depth);
    if (chosen != null) {
      add(chosen);
      return;
    }
    depth++;
    link.accept(this);
    depth--;
  }

  @Override
  public void visitRuleFixed(int type) {
    switch (type) {
      case RuleFixed.CONCAT -> add("||");
      case RuleFixed.OPEN_BRACKET -> add("[");
      case RuleFixed.CLOSE_BRACKET -> add("]");
      case RuleFixed.HEX_START -> add("0x");
      case RuleFixed.OCTAL_START -> add("0o");
      case RuleFixed.BINARY_START -> add("0b");
      case RuleFixed.YMD -> add("2020-02-29");
      case RuleFixed.HMS -> add("12:00:00");
      default -> add("1");
    }
  }

  @Override
  @SuppressWarnings("NonApiType") // H2 declares an ArrayList
  public void visitRuleList(boolean or, ArrayList<Rule> list) {
    if (or) {
      list.get(random.nextInt(list.size())).accept(this);
    } else {
      list.forEach(rule -> rule.accept(this));
    }
  }

  @Override
  public void visitRuleRepeat(boolean comma, Rule rule) {
    while (depth < DEEP && random.nextInt(3) == 0) {
      rule.accept(this);
    }
  }

  @Override
  public void visitRuleOptional(Rule rule) {
    if (depth < DEEP && random.nextInt(3) == 0) {
      rule.accept(this);
    }
  }

  @Override
  @SuppressWarnings("NonApiType") // H2 declares an ArrayList
  public void visitRuleOptional(ArrayList<Rule> list) {
    if (depth < DEEP && random.nextInt(3) == 0) {
      list.get(random.nextInt(list.size())).accept(this);
    }
  }

  @Override
  public void visitRuleExtension(Rule rule, boolean compatibility) {
    rule.accept(this);
  }
}
