package dev.tollgate.h2;

import java.text.Collator;
import java.text.DateFormatSymbols;
import java.text.DecimalFormatSymbols;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Currency;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import org.h2.engine.DbObject;
import org.h2.expression.Expression;
import org.h2.table.Table;
import org.jspecify.annotations.Nullable;

/**
 * Answers of the Java runtime that H2 computes with, fixed where they would differ between two
 * processes: order among equals, identity, the clock, the default locale, and properties.
 */
public final class Reproducible {
  /** What H2 takes for the locale of the process. */
  public static final Locale LOCALE = Locale.US;

  /** What H2 allows for one plan, by its estimate that it takes 5 microseconds. */
  private static final long NANOS_PER_128_PLANS = 128 * 5_000;

  private static final ThreadLocal<long[]> PLANNED = ThreadLocal.withInitial(() -> new long[1]);

  private Reproducible() {}

  /**
   * Sorts the whole array. Rows that are equal keep their order, as they do when H2 sorts all rows.
   * H2 itself would find the first rows by a quick sort around rows that it draws by lot.
   */
  @Replaces(of = "org.h2.util.Utils", isStatic = true)
  public static <X> void sortTopN(X[] array, int from, int to, Comparator<? super X> order) {
    ChargedArrays.sort(array.length);
    Arrays.sort(array, order);
  }

  /**
   * A clock that advances with each reading. H2 reads it before it compares plans, and then after
   * every 128 plans.
   */
  @Replaces(of = "java.lang.System", isStatic = true, in = "org.h2.command.query.Optimizer")
  public static long nanoTime() {
    long[] planned = PLANNED.get();
    planned[0] += NANOS_PER_128_PLANS;
    return planned[0];
  }

  /**
   * Gives a new object an id above those of all others. H2 would give it one that an object had
   * which is gone, and what is restored in the order of ids would not be in the order in which it
   * was made: the rules of a domain, say, of which the first that fails names the error.
   */
  @Replaces(of = "java.util.BitSet", in = "org.h2.engine.Database")
  public static int nextClearBit(BitSet ids, int from) {
    return ids.length();
  }

  /**
   * Reserves a generated name until the statement ends. H2 would reserve the name of an index that
   * could not be made for as long as the process lives.
   */
  @Replaces(of = "java.util.HashSet", in = "org.h2.schema.Schema")
  @SuppressWarnings("NonApiType") // H2 declares a HashSet
  public static boolean add(HashSet<Object> reserved, Object name) {
    return ofStatement(reserved).add(name);
  }

  @Replaces(of = "java.util.HashSet", in = "org.h2.schema.Schema")
  @SuppressWarnings("NonApiType") // H2 declares a HashSet
  public static boolean remove(HashSet<Object> reserved, Object name) {
    return ofStatement(reserved).remove(name);
  }

  private static Set<Object> ofStatement(Set<Object> reserved) {
    return Meter.ofStatement(reserved, LinkedHashSet::new);
  }

  /** The hash of a class follows from its name. */
  @Replaces(of = "java.lang.Object")
  public static int hashCode(Object object) {
    return object instanceof Class<?> type ? type.getName().hashCode() : object.hashCode();
  }

  /** H2's infinite numbers are one object each. */
  @Replaces(of = "java.lang.System", isStatic = true, in = "org.h2.value.ValueDecfloat")
  public static int identityHashCode(Object object) {
    return object.toString().hashCode();
  }

  @Replaces(of = "java.util.Locale", isStatic = true)
  public static Locale getDefault() {
    return LOCALE;
  }

  @Replaces(of = "java.util.Locale", isStatic = true)
  public static Locale getDefault(Locale.Category category) {
    return LOCALE;
  }

  @Replaces(of = "java.lang.String")
  public static String toUpperCase(String text) {
    return ChargedTexts.upper(text, LOCALE);
  }

  @Replaces(of = "java.lang.String")
  public static String toLowerCase(String text) {
    return ChargedTexts.lower(text, LOCALE);
  }

  @Replaces(of = "java.lang.String", isStatic = true)
  @SuppressWarnings("AnnotateFormatMethod")
  public static String format(String format, Object... arguments) {
    return String.format(LOCALE, format, arguments);
  }

  @Replaces(of = "java.text.DateFormatSymbols", method = "getInstance", isStatic = true)
  public static DateFormatSymbols dateFormatSymbols() {
    return DateFormatSymbols.getInstance(LOCALE);
  }

  @Replaces(of = "java.text.DecimalFormatSymbols", method = "getInstance", isStatic = true)
  public static DecimalFormatSymbols decimalFormatSymbols() {
    return DecimalFormatSymbols.getInstance(LOCALE);
  }

  @Replaces(of = "java.text.Collator", method = "getInstance", isStatic = true)
  public static Collator collator() {
    return Collator.getInstance(LOCALE);
  }

  @Replaces(of = "java.util.Currency")
  public static String getSymbol(Currency currency) {
    return currency.getSymbol(LOCALE);
  }

  /**
   * H2 has its own defaults, whatever its properties are: they change what it computes. By a
   * statement, it loads no classes but those of the store. It does not look for an equal value or
   * name among earlier ones, which the process has or has not.
   */
  @Replaces(of = "java.lang.System", isStatic = true, in = "org.h2.util.Utils")
  public static @Nullable String getProperty(String name, @Nullable String standard) {
    if (name.equals("h2.allowedClasses")) {
      return "dev.tollgate.store.*";
    }
    if (name.equals("h2.objectCache")) {
      return "false";
    }
    return name.startsWith("h2.") ? standard : System.getProperty(name, standard);
  }

  /** H2's defaults are those of a machine with one gigabyte for it. */
  @Replaces(of = "org.h2.util.Utils", isStatic = true)
  public static int scaleForAvailableMemory(int value) {
    return value;
  }

  /**
   * H2 would refuse to make, and to copy for an ALTER TABLE, a table that reads one with a higher
   * number. Numbers are reused, so that would depend on what was dropped before; and it would fail
   * when a definition is undone. Snapshots make tables in an order that needs no such rule.
   */
  @Replaces(of = "org.h2.table.Table", in = "org.h2.command.ddl.CreateTable")
  @SuppressWarnings("NonApiType") // as H2 calls it
  public static void addDependencies(Table table, HashSet<DbObject> dependencies) {}

  /**
   * H2 would refuse to set the DEFAULT of a column to what reads its table, for the same reason,
   * but not to add such a column, or to alter a domain so. A dump could not set it then.
   */
  @Replaces(
      of = "org.h2.command.ddl.AlterTableAlterColumn",
      in = "org.h2.command.ddl.AlterTableAlterColumn",
      isStatic = true)
  public static void checkDefaultReferencesTable(Table table, Expression expression) {}
}
