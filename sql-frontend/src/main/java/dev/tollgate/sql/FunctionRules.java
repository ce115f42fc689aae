package dev.tollgate.sql;

import dev.tollgate.sql.FunctionRule.Use;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Every function of H2 by name, with the places where it may be used. What is not in the table is
 * refused, so a function that a new version of H2 brings stays out until somebody has thought about
 * it.
 *
 * <p>The table is also the source of the SQL reference. The lock functions are not in it: see
 * {@link LockFunction}.
 *
 * <p>Functions that depend on the default locale are READ_ONLY when formatting is their purpose;
 * case mapping and the weeks of a year depend on it too, and are allowed because a node fixes its
 * locale and time zone at start.
 */
final class FunctionRules {

  private static final Map<String, FunctionRule> RULES = rules();

  private FunctionRules() {}

  /** The rule for a function, by its name in upper case; null for one that H2 2.5 does not have. */
  static @Nullable FunctionRule named(String name) {
    return RULES.get(name);
  }

  static Collection<FunctionRule> all() {
    return RULES.values();
  }

  private static Map<String, FunctionRule> rules() {
    Table table = new Table();
    whatDependsOnItsArgumentsAlone(table);
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
            TRUNCATE_VALUE ZERO""");
    table.allow(
        "bits",
        """
            BITAND BITCOUNT BITGET BITNAND BITNOR BITNOT BITOR BITXNOR BITXOR LSHIFT ROTATELEFT
            ROTATERIGHT RSHIFT ULSHIFT URSHIFT EXPAND HASH ORA_HASH""");
    table.allow(
        "strings",
        """
            ASCII BIT_LENGTH BTRIM CHAR CHARACTER_LENGTH CHAR_LENGTH CHR CONCAT CONCAT_WS
            DIFFERENCE HEXTORAW INSERT INSTR LCASE LEFT LENGTH LOCATE LOWER LPAD LTRIM
            OCTET_LENGTH POSITION QUOTE_IDENT RAWTOHEX REGEXP_LIKE REGEXP_REPLACE REGEXP_SUBSTR
            REPEAT REPLACE RIGHT RPAD RTRIM SOUNDEX SPACE STRINGDECODE STRINGENCODE STRINGTOUTF8
            SUBSTR SUBSTRING TRANSLATE TRIM UCASE UPPER UTF8TOSTRING XMLATTR XMLCDATA XMLCOMMENT
            XMLNODE XMLSTARTDOC XMLTEXT""");
    table.allow(
        "conditions",
        """
            CASEWHEN CAST COALESCE CONVERT DECODE GREATEST IFNULL LEAST NULLIF NVL NVL2""");
    table.allow(
        "dates",
        """
            DATEADD DATEDIFF DATE_TRUNC DAY DAYOFMONTH DAYOFWEEK DAYOFYEAR DAY_OF_MONTH
            DAY_OF_WEEK DAY_OF_YEAR EXTRACT HOUR ISO_DAY_OF_WEEK ISO_WEEK ISO_YEAR LAST_DAY MINUTE
            MONTH QUARTER SECOND TIMESTAMPADD TIMESTAMPDIFF WEEK YEAR""");
    table.allow(
        "arrays and JSON",
        """
            ARRAY_APPEND ARRAY_CAT ARRAY_CONTAINS ARRAY_GET ARRAY_LENGTH ARRAY_MAX_CARDINALITY
            ARRAY_SLICE CARDINALITY JSON_ARRAY JSON_OBJECT TRIM_ARRAY UNNEST""");
    table.allow("tables", "GENERATE_SERIES SYSTEM_RANGE");
    table.allow(
        "aggregates",
        """
            ANY AVG BIT_AND BIT_AND_AGG BIT_NAND_AGG BIT_NOR_AGG BIT_OR BIT_OR_AGG BIT_XNOR_AGG
            BIT_XOR_AGG BOOL_AND BOOL_OR CORR COUNT COVAR_POP COVAR_SAMP EVERY GCD_AGG HISTOGRAM
            LCM_AGG MAX MEDIAN MIN PERCENTILE_CONT PERCENTILE_DISC REGR_AVGX REGR_AVGY REGR_COUNT
            REGR_INTERCEPT REGR_R2 REGR_SLOPE REGR_SXX REGR_SXY REGR_SYY SOME STDDEV STDDEVP
            STDDEV_POP STDDEV_SAMP SUM VAR VARIANCE VARP VAR_POP VAR_SAMP""");
    table.allow(
        "windows",
        """
            CUME_DIST DENSE_RANK FIRST_VALUE LAG LAST_VALUE LEAD NTH_VALUE NTILE PERCENT_RANK RANK
            RATIO_TO_REPORT ROW_NUMBER""");
  }

  private static void whatDependsOnTheOrderOfRows(Table table) {
    table.add(
        "aggregates",
        Use.ORDERED,
        false,
        "what it gives depends on the order of the rows, and without an ORDER BY of its own, as"
            + " in ARRAY_AGG(x ORDER BY x) or LISTAGG(x) WITHIN GROUP (ORDER BY x), replicas may"
            + " disagree on it",
        """
            ARRAY_AGG GROUP_CONCAT JSON_ARRAYAGG LISTAGG MODE STATS_MODE STRING_AGG""");
    table.add(
        "aggregates",
        Use.READ_ONLY,
        false,
        "what it gives depends on the order in which one replica happens to read the rows",
        "ANY_VALUE JSON_OBJECTAGG");
  }

  private static void whatDependsOnWhereAndWhen(Table table) {
    String pinned = "evaluated with the time and the seed of the log entry";
    table.add(
        "time",
        Use.PINNED,
        true,
        pinned,
        "CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP");
    table.add("time", Use.PINNED, true, pinned, "SYSDATE SYSTIMESTAMP TODAY");
    table.add("time", Use.PINNED, false, pinned, "CURDATE CURTIME NOW");
    table.add("chance", Use.PINNED, false, pinned, "RAND RANDOM RANDOM_UUID UUID");

    String session =
        "it depends on the session, which the other replicas do not know: pass the value as a"
            + " parameter";
    table.add(
        "session",
        Use.SESSION,
        true,
        session,
        "CURRENT_CATALOG CURRENT_PATH CURRENT_ROLE CURRENT_SCHEMA CURRENT_USER");
    table.add("session", Use.SESSION, true, session, "SESSION_USER SYSTEM_USER USER");
    table.add(
        "session",
        Use.SESSION,
        false,
        session,
        "AUTOCOMMIT DATABASE LOCK_TIMEOUT SCHEMA SESSION_ID");

    String replica = "it is not the same on every replica: pass the value as a parameter";
    table.add(
        "replica",
        Use.READ_ONLY,
        false,
        replica,
        """
            DATABASE_PATH DATA_TYPE_SQL DISK_SPACE_USED H2VERSION LOCK_MODE READONLY""");
    table.add(
        "numbers", Use.READ_ONLY, false, "its result depends on the Java runtime", "COMPRESS");
    table.add(
        "locale",
        Use.READ_ONLY,
        false,
        "it depends on the locale of the node: pass the value as a parameter",
        "DAYNAME FORMATDATETIME MONTHNAME PARSEDATETIME TO_CHAR");
    table.add(
        "rows",
        Use.READ_ONLY,
        true,
        "it numbers the rows as one replica happens to read them: write ROW_NUMBER() OVER (ORDER"
            + " BY ...)",
        "ROWNUM");
  }

  private static void whatIsRefused(Table table) {
    table.refuse(
        "files",
        "it would reach files of one replica",
        "CSVREAD CSVWRITE FILE_READ FILE_WRITE LINK_SCHEMA");
    table.refuse(
        "chance",
        "every replica would draw another number: use RAND() or RANDOM_UUID()",
        "SECURE_RAND");
    table.refuse(
        "secrets",
        "a key has no place in a replicated statement: encrypt in the application",
        "DECRYPT ENCRYPT");
    table.refuse("administration", "it works on other sessions", "ABORT_SESSION CANCEL_SESSION");
    table.refuse("administration", "it would stall every replica", "SLEEP");
    table.refuse(
        "administration",
        "it collects garbage first: ask the node's metrics",
        "MEMORY_FREE MEMORY_USED");
    table.refuse(
        "administration",
        "it tells what is not for clients: query INFORMATION_SCHEMA",
        "DB_OBJECT_ID DB_OBJECT_SQL");
    table.refuse(
        "administration",
        "it tells what is not for clients: query INFORMATION_SCHEMA",
        """
            DB_OBJECT_APPROXIMATE_SIZE DB_OBJECT_APPROXIMATE_TOTAL_SIZE DB_OBJECT_SIZE
            DB_OBJECT_TOTAL_SIZE""");
    table.refuse("administration", "it names a transaction of one replica", "TRANSACTION_ID");
    table.refuse("administration", "an error must come from the store itself", "SIGNAL");
    table.refuse("variables", "variables are no part of the replicated state", "SET");
    table.refuse(
        "identity",
        "what a session inserted last is not replicated: ask for generated keys, or SELECT ..."
            + " FROM FINAL TABLE (INSERT ...)",
        "CURRVAL IDENTITY LAST_INSERT_ID SCOPE_IDENTITY");
    table.refuse("identity", "write NEXT VALUE FOR sequence", "NEXTVAL");
    table.refuse("geometry", "geometry is not supported", "ENVELOPE ESTIMATED_ENVELOPE");
    table.refuse("tables", "write a query with DISTINCT", "TABLE_DISTINCT");
  }

  private static final class Table {
    private final Map<String, FunctionRule> rules = new LinkedHashMap<>();

    void allow(String group, String names) {
      add(group, Use.ALLOWED, false, "", names);
    }

    void refuse(String group, String reason, String names) {
      add(group, Use.REFUSED, false, reason, names);
    }

    void add(String group, Use use, boolean withoutParentheses, String reason, String names) {
      for (String name : names.split("\\s+", -1)) {
        FunctionRule previous =
            rules.put(name, new FunctionRule(name, group, use, withoutParentheses, reason));
        if (previous != null) {
          throw new IllegalStateException("two rules for " + name);
        }
      }
    }
  }
}
