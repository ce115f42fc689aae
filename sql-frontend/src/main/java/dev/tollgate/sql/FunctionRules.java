package dev.tollgate.sql;

import dev.tollgate.sql.FunctionRule.Use;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Every function of H2 by name, with the places where it may be used. A function that is not in the
 * table is refused, so a new function of a later H2 stays out until it gets a rule.
 *
 * <p>The table is also the source of the SQL reference. The lock functions are not in it: see
 * {@link LockFunction}.
 *
 * <p>Functions that depend on the default locale are READ_ONLY if formatting is their purpose. Case
 * mapping and the weeks of a year depend on the locale too. They are allowed because a node fixes
 * its locale and time zone at start.
 */
final class FunctionRules {

  /** Why a function or operator that takes a regular expression is refused in writes. */
  static final String ENDLESS_PATTERN =
      "a regular expression can be made to take for ever, and every replica with it";

  static final String LIKE_INSTEAD =
      "write LIKE, or find the rows with a query first and pass what it gave as parameters";

  /** The groups of the functions that see more than one row. */
  static final String AGGREGATES = "aggregates";

  static final String WINDOWS = "windows";

  /** The group of the functions that depend on the session. */
  static final String SESSION = "session";

  private static final Map<String, FunctionRule> RULES = rules();

  private FunctionRules() {}

  /**
   * Returns the rule for a function by its name in upper case; null if H2 2.5 has no such function.
   */
  static @Nullable FunctionRule named(String name) {
    return RULES.get(name);
  }

  static Collection<FunctionRule> all() {
    return RULES.values();
  }

  private static Map<String, FunctionRule> rules() {
    Table table = new Table();
    whatDependsOnItsArgumentsAlone(table);
    whatMayTakeForEver(table);
    whatDependsOnTheOrderOfRows(table);
    whatDependsOnWhereAndWhen(table);
    whatIsRefused(table);
    return Collections.unmodifiableMap(table.rules);
  }

  private static void whatDependsOnItsArgumentsAlone(Table table) {
    table.allow(
        "numbers",
        """
        ABS ACOS ASIN ATAN ATAN2 CEIL CEILING COS COSH COT DEGREES EXP FLOOR GCD LCM LN LOG
        LOG10 MOD PI POWER RADIANS ROUND ROUNDMAGIC SIGN SIN SINH SQRT TAN TANH TRUNC TRUNCATE
        TRUNCATE_VALUE ZERO\
        """);
    table.allow(
        "bits",
        """
        BITAND BITCOUNT BITGET BITNAND BITNOR BITNOT BITOR BITXNOR BITXOR LSHIFT ROTATELEFT
        ROTATERIGHT RSHIFT ULSHIFT URSHIFT HASH ORA_HASH\
        """);
    table.allow(
        "strings",
        """
        ASCII BIT_LENGTH BTRIM CHAR CHARACTER_LENGTH CHAR_LENGTH CHR CONCAT CONCAT_WS
        DIFFERENCE HEXTORAW INSERT INSTR LCASE LEFT LENGTH LOCATE LOWER LTRIM OCTET_LENGTH
        POSITION QUOTE_IDENT RAWTOHEX RIGHT RTRIM SOUNDEX STRINGDECODE STRINGENCODE
        STRINGTOUTF8 SUBSTR SUBSTRING TRANSLATE TRIM UCASE UPPER UTF8TOSTRING XMLATTR XMLCDATA
        XMLCOMMENT XMLNODE XMLSTARTDOC XMLTEXT\
        """);
    table.allow(
        "conditions",
        """
        CASEWHEN CAST COALESCE CONVERT DECODE GREATEST IFNULL LEAST NULLIF NVL NVL2\
        """);
    table.allow(
        "dates",
        """
        DATEADD DATEDIFF DATE_TRUNC DAY DAYOFMONTH DAYOFWEEK DAYOFYEAR DAY_OF_MONTH
        DAY_OF_WEEK DAY_OF_YEAR EXTRACT HOUR ISO_DAY_OF_WEEK ISO_WEEK ISO_YEAR LAST_DAY MINUTE
        MONTH QUARTER SECOND TIMESTAMPADD TIMESTAMPDIFF WEEK YEAR\
        """);
    table.allow(
        "arrays and JSON",
        """
        ARRAY_APPEND ARRAY_CAT ARRAY_CONTAINS ARRAY_GET ARRAY_LENGTH ARRAY_MAX_CARDINALITY
        ARRAY_SLICE CARDINALITY JSON_ARRAY JSON_OBJECT TRIM_ARRAY UNNEST\
        """);
    table.allow("tables", "GENERATE_SERIES SYSTEM_RANGE");
    table.allow(
        AGGREGATES,
        """
        ANY AVG BIT_AND BIT_AND_AGG BIT_NAND_AGG BIT_NOR_AGG BIT_OR BIT_OR_AGG BIT_XNOR_AGG
        BIT_XOR_AGG BOOL_AND BOOL_OR CORR COUNT COVAR_POP COVAR_SAMP ENVELOPE EVERY GCD_AGG
        HISTOGRAM
        LCM_AGG MAX MEDIAN MIN PERCENTILE_CONT PERCENTILE_DISC REGR_AVGX REGR_AVGY REGR_COUNT
        REGR_INTERCEPT REGR_R2 REGR_SLOPE REGR_SXX REGR_SXY REGR_SYY SOME STDDEV STDDEVP
        STDDEV_POP STDDEV_SAMP SUM VAR VARIANCE VARP VAR_POP VAR_SAMP\
        """);
    table.allow(
        WINDOWS,
        """
        CUME_DIST DENSE_RANK FIRST_VALUE LAG LAST_VALUE LEAD NTH_VALUE NTILE PERCENT_RANK RANK
        RATIO_TO_REPORT ROW_NUMBER\
        """);
  }

  /** Functions that could block the apply thread of every replica forever, again at every start. */
  private static void whatMayTakeForEver(Table table) {
    table.add(
        "strings",
        Use.BOUNDED,
        "its result has at most " + SqlLimits.FUNCTION_RESULT_LENGTH + " characters",
        "",
        "LPAD REPEAT REPLACE RPAD SPACE");
    table.add(
        "strings",
        Use.READ_ONLY,
        ENDLESS_PATTERN,
        LIKE_INSTEAD,
        "REGEXP_LIKE REGEXP_REPLACE REGEXP_SUBSTR");
    table.add(
        "bits",
        Use.READ_ONLY,
        "a few bytes may expand to gigabytes, on every replica",
        "expand in the application",
        "EXPAND");
  }

  private static void whatDependsOnTheOrderOfRows(Table table) {
    table.add(
        AGGREGATES,
        Use.ORDERED,
        "what it gives depends on the order of the rows, which may differ between replicas",
        "give it an ORDER BY of its own, as in ARRAY_AGG(x ORDER BY x) or LISTAGG(x) WITHIN GROUP"
            + " (ORDER BY x)",
        """
        ARRAY_AGG GROUP_CONCAT JSON_ARRAYAGG LISTAGG MODE STATS_MODE STRING_AGG\
        """);
    table.add(
        AGGREGATES,
        Use.READ_ONLY,
        "what it gives depends on the order in which one replica happens to read the rows",
        "write MIN or MAX",
        "ANY_VALUE");
    table.add(
        AGGREGATES,
        Use.READ_ONLY,
        "its members stand in the order in which one replica happens to read the rows",
        "write JSON_ARRAYAGG(JSON_OBJECT(...) ORDER BY ...), or pass the value as a parameter",
        "JSON_OBJECTAGG");
  }

  private static void whatDependsOnWhereAndWhen(Table table) {
    String moment = "it gives the time of the log entry in which its transaction began";
    table.addBare(
        "time",
        Use.PINNED,
        moment,
        "",
        """
        CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP SYSDATE
        SYSTIMESTAMP TODAY\
        """);
    table.add("time", Use.PINNED, moment, "", "CURDATE CURTIME NOW");
    table.add(
        "chance",
        Use.PINNED,
        "it draws from the seed of the log entry",
        "",
        "RAND RANDOM RANDOM_UUID UUID");

    // on every replica, a statement runs in the schema of its session and as the user of its
    // session
    table.addBare(
        SESSION, Use.ALLOWED, "", "", "CURRENT_SCHEMA CURRENT_USER SESSION_USER SYSTEM_USER USER");
    table.allow(SESSION, "SCHEMA");
    String session = "it depends on the session, which the other replicas do not know";
    String parameter = "pass the value as a parameter";
    table.addBare(
        SESSION, Use.SESSION, session, parameter, "CURRENT_CATALOG CURRENT_PATH CURRENT_ROLE");
    table.add(
        SESSION, Use.SESSION, session, parameter, "AUTOCOMMIT DATABASE LOCK_TIMEOUT SESSION_ID");
    table.add(
        "replica",
        Use.READ_ONLY,
        "it is not the same on every replica",
        parameter,
        """
        DATABASE_PATH DATA_TYPE_SQL DISK_SPACE_USED H2VERSION LOCK_MODE READONLY\
        """);
    table.add(
        "bits",
        Use.READ_ONLY,
        "its result depends on the Java runtime",
        "compress in the application",
        "COMPRESS");
    table.add(
        "locale",
        Use.READ_ONLY,
        "it depends on the locale of the node",
        parameter,
        "DAYNAME FORMATDATETIME MONTHNAME PARSEDATETIME TO_CHAR");
    table.addBare(
        "rows",
        Use.READ_ONLY,
        "it numbers the rows as one replica happens to read them",
        "write ROW_NUMBER() OVER (ORDER BY ...)",
        "ROWNUM");
  }

  private static void whatIsRefused(Table table) {
    table.refuse(
        "files",
        "it would read a file that the other replicas do not have",
        "send the rows with INSERT",
        "CSVREAD");
    table.refuse(
        "files",
        "it would read a file that the other replicas do not have",
        "pass its content as a parameter",
        "FILE_READ");
    table.refuse(
        "files",
        "it would write a file on one replica",
        "read the rows with SELECT, and write them in the application",
        "CSVWRITE FILE_WRITE");
    table.refuse(
        "files",
        "it would reach another database, which answers each replica at another moment",
        "copy the rows with INSERT",
        "LINK_SCHEMA");
    table.refuse(
        "chance",
        "every replica would draw another number",
        "use RAND() or RANDOM_UUID(), or pass random bytes as a parameter",
        "SECURE_RAND");
    table.refuse(
        "secrets",
        "its key would stand in the log of every replica",
        "encrypt and decrypt in the application",
        "DECRYPT ENCRYPT");
    table.refuse(
        "administration",
        "it ends other sessions of one replica",
        "to break a lock, SELECT force_release_lock('name') or revoke_lease(id)",
        "ABORT_SESSION");
    table.refuse(
        "administration",
        "it cancels statements of one replica",
        "cancel in the client that sent it",
        "CANCEL_SESSION");
    table.refuse(
        "administration",
        "it would stall every replica",
        "wait in the application; SELECT acquire_lock('name') waits for a lock",
        "SLEEP");
    table.refuse(
        "administration",
        "it makes the node collect garbage first",
        "look at the node's process, with jcmd for example",
        "MEMORY_FREE MEMORY_USED");
    table.refuse(
        "administration",
        "it numbers objects as one replica does",
        "query INFORMATION_SCHEMA",
        "DB_OBJECT_ID");
    table.refuse(
        "administration",
        "it shows definitions as one replica keeps them, those of the system among them",
        "query INFORMATION_SCHEMA",
        "DB_OBJECT_SQL");
    table.refuse(
        "administration",
        "it measures the memory of one replica",
        "query INFORMATION_SCHEMA",
        """
        DB_OBJECT_APPROXIMATE_SIZE DB_OBJECT_APPROXIMATE_TOTAL_SIZE DB_OBJECT_SIZE
        DB_OBJECT_TOTAL_SIZE\
        """);
    table.refuse("administration", "it names a transaction of one replica", "", "TRANSACTION_ID");
    table.refuse(
        "administration",
        "an error must come from the store itself",
        "use CHECK, or a condition in WHERE",
        "SIGNAL");
    table.refuse(
        "variables",
        "variables are no part of the replicated state",
        "pass the value as a parameter",
        "SET");
    table.refuse(
        "identity",
        "what a session inserted last is not replicated",
        "ask for generated keys, or SELECT ... FROM FINAL TABLE (INSERT ...)",
        "IDENTITY LAST_INSERT_ID SCOPE_IDENTITY");
    table.refuse(
        "identity",
        "what a session drew last is not replicated",
        "keep what NEXT VALUE FOR gave",
        "CURRVAL");
    table.refuse(
        "sequences",
        "it looks the sequence up by a text that it reads while it runs",
        "write NEXT VALUE FOR sequence",
        "NEXTVAL");
    table.refuse(
        "geometry",
        "it reads a spatial index, of which there are none",
        "write ENVELOPE",
        "ESTIMATED_ENVELOPE");
    table.refuse(
        "tables",
        "its columns are unknown before it has run",
        "write SELECT DISTINCT from UNNEST or VALUES",
        "TABLE_DISTINCT");
  }

  private static final class Table {
    private final Map<String, FunctionRule> rules = new LinkedHashMap<>();

    void allow(String group, String names) {
      add(group, Use.ALLOWED, "", "", names);
    }

    void refuse(String group, String reason, String instead, String names) {
      add(group, Use.REFUSED, reason, instead, names);
    }

    void add(String group, Use use, String reason, String instead, String names) {
      add(group, use, false, reason, instead, names);
    }

    /** Adds functions whose bare name is a call. */
    void addBare(String group, Use use, String reason, String instead, String names) {
      add(group, use, true, reason, instead, names);
    }

    private void add(
        String group,
        Use use,
        boolean withoutParentheses,
        String reason,
        String instead,
        String names) {
      for (String name : names.split("\\s+", -1)) {
        FunctionRule rule = new FunctionRule(name, group, use, withoutParentheses, reason, instead);
        if (rules.put(name, rule) != null) {
          throw new IllegalStateException("two rules for " + name);
        }
      }
    }
  }
}
