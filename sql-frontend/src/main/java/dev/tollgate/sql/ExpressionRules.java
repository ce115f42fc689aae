package dev.tollgate.sql;

import dev.tollgate.sql.Findings.FunctionUse;
import dev.tollgate.sql.Findings.LockUse;
import dev.tollgate.sql.parser.Token;
import dev.tollgate.sql.parser.TollgateParserConstants;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlCollectionTypeNameSpec;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlNumericLiteral;
import org.apache.calcite.sql.SqlRowTypeNameSpec;
import org.apache.calcite.sql.SqlTypeNameSpec;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * The names, functions, operators and types that are allowed in an expression. A function is
 * identified by the word in the text, which H2 looks up, and not by what Calcite makes of that
 * word.
 */
final class ExpressionRules {

  private static final String ROW_ID = "_ROWID_";

  private static final Set<String> TYPES_OF_JAVA = Set.of("JAVA_OBJECT", "OBJECT", "OTHER");

  private static final Set<String> FILLING_TYPES =
      Set.of("NATIONAL", "CHAR", "CHARACTER", "NCHAR", "BINARY");

  private static final int DIGITS_OF_A_LENGTH = 9;

  /** The units of a length, as in CHAR(2 M). */
  private static final Set<String> MULTIPLES = Set.of("K", "M", "G", "T", "P");

  /** Kinds that Calcite treats as operators, and that are parts of a query, a call or a window. */
  private static final Set<SqlKind> CONSTRUCTIONS =
      EnumSet.of(
          SqlKind.UNION,
          SqlKind.INTERSECT,
          SqlKind.EXCEPT,
          SqlKind.ORDER_BY,
          SqlKind.VALUES,
          SqlKind.ROW,
          SqlKind.UNNEST,
          SqlKind.COLLECTION_TABLE,
          SqlKind.GROUPING_SETS,
          SqlKind.GROUP_BY_DISTINCT,
          SqlKind.DESCENDING,
          SqlKind.NULLS_FIRST,
          SqlKind.NULLS_LAST,
          SqlKind.FILTER,
          SqlKind.PRECEDING,
          SqlKind.FOLLOWING,
          SqlKind.SEPARATOR,
          SqlKind.DEFAULT,
          SqlKind.CASE,
          SqlKind.ITEM,
          SqlKind.DOT,
          SqlKind.ARRAY_VALUE_CONSTRUCTOR,
          SqlKind.ARRAY_QUERY_CONSTRUCTOR,
          SqlKind.LITERAL_CHAIN,
          SqlKind.ESCAPE);

  private static final Set<SqlKind> OPERATORS =
      EnumSet.of(
          SqlKind.CAST,
          SqlKind.PLUS,
          SqlKind.MINUS,
          SqlKind.TIMES,
          SqlKind.DIVIDE,
          SqlKind.MOD,
          SqlKind.PLUS_PREFIX,
          SqlKind.MINUS_PREFIX,
          SqlKind.AND,
          SqlKind.OR,
          SqlKind.NOT,
          SqlKind.LESS_THAN,
          SqlKind.LESS_THAN_OR_EQUAL,
          SqlKind.GREATER_THAN,
          SqlKind.GREATER_THAN_OR_EQUAL,
          SqlKind.IS_DISTINCT_FROM,
          SqlKind.IS_NOT_DISTINCT_FROM,
          SqlKind.IN,
          SqlKind.NOT_IN,
          SqlKind.SOME,
          SqlKind.ALL,
          SqlKind.BETWEEN,
          SqlKind.LIKE,
          SqlKind.OVERLAPS,
          SqlKind.EXISTS,
          SqlKind.UNIQUE,
          SqlKind.IS_NULL,
          SqlKind.IS_NOT_NULL,
          SqlKind.IS_TRUE,
          SqlKind.IS_NOT_TRUE,
          SqlKind.IS_FALSE,
          SqlKind.IS_NOT_FALSE,
          SqlKind.IS_UNKNOWN);

  /** Operators to which Calcite gives no kind of their own, by name. */
  private static final Set<String> OTHER_OPERATORS =
      Set.of(
          "||",
          "AT TIME ZONE",
          "AT LOCAL",
          "IS OF",
          "FORMAT JSON",
          "IS JSON VALUE",
          "IS NOT JSON VALUE",
          "IS JSON OBJECT",
          "IS NOT JSON OBJECT",
          "IS JSON ARRAY",
          "IS NOT JSON ARRAY",
          "IS JSON SCALAR",
          "IS NOT JSON SCALAR");

  private final Tokens tokens;
  private final Findings findings;

  ExpressionRules(Tokens tokens, Findings findings) {
    this.tokens = tokens;
    this.findings = findings;
  }

  /** Returns the allowed operators, each by the name of its kind or its own name. */
  static Stream<String> operators() {
    return Stream.concat(OPERATORS.stream().map(SqlKind::name), OTHER_OPERATORS.stream());
  }

  /** Returns the refused types, for the SQL reference. */
  static Stream<String> refusedTypes() {
    return TYPES_OF_JAVA.stream().sorted();
  }

  static boolean isAllowedOperator(SqlCall call) {
    return OPERATORS.contains(call.getKind())
        || CONSTRUCTIONS.contains(call.getKind())
        || OTHER_OPERATORS.contains(call.getOperator().getName());
  }

  /** Records a name that stands for a value: a column, or a function that needs no parentheses. */
  void name(SqlIdentifier identifier) {
    if (identifier.isStar()) {
      return;
    }
    SqlParserPos position = identifier.getParserPosition();
    int last = identifier.names.size() - 1;
    String name = identifier.names.get(last);
    boolean quoted = identifier.isComponentQuoted(last);
    FunctionRule rule = last == 0 && !quoted ? FunctionRules.named(name) : null;
    if (isRowId(identifier)) {
      findings.rowId(position);
    } else if (rule != null && rule.withoutParentheses()) {
      findings.function(new FunctionUse(rule, position, false));
    } else {
      findings.column(identifier);
    }
    if (last > 0 && !quoted && (name.equals("NEXTVAL") || name.equals("CURRVAL"))) {
      throw Refusals.notAllowed(
          position, "sequence." + name + " is not allowed: write NEXT VALUE FOR sequence");
    }
  }

  /**
   * Whether a call compares two row ids with each other. The result of the comparison is the same
   * on every replica; a row id itself is not.
   */
  boolean comparesRowIds(SqlCall call) {
    return isRowId(call.operand(0)) && isRowId(call.operand(1));
  }

  private static boolean isRowId(SqlNode node) {
    return node instanceof SqlIdentifier identifier
        && identifier.names.get(identifier.names.size() - 1).equalsIgnoreCase(ROW_ID);
  }

  void function(SqlCall call, boolean orderedFromOutside) {
    SqlParserPos position = call.getParserPosition();
    SqlIdentifier qualified = ((SqlFunction) call.getOperator()).getSqlIdentifier();
    if (qualified != null && !qualified.isSimple() && !TollgateFunctions.isOne(qualified)) {
      throw Refusals.notAllowed(
          qualified.getParserPosition(),
          "function " + qualified + " is not allowed: call functions without a schema");
    }
    String name = wordAt(position);
    LockFunction lockFunction = LockFunction.named(name);
    if (lockFunction != null) {
      LockCalls.checkArguments(lockFunction, call);
      findings.lock(new LockUse(lockFunction, position));
      return;
    }
    Procedure procedure = Procedure.named(name);
    if (procedure != null) {
      throw Refusals.notAllowed(
          position,
          name + " administers the cluster and stands alone: CALL " + procedure.signature());
    }
    FunctionRule rule = FunctionRules.named(name);
    if (rule == null) {
      throw Refusals.notAllowed(
          position, "function " + name + " is not allowed: Tollgate does not know it");
    }
    if (name.equals("RANDOM_UUID")) {
      checkVersion(call);
    }
    findings.function(new FunctionUse(rule, position, orderedFromOutside || hasOrderBy(call)));
  }

  /** Returns the word in the text that begins the call, as H2 looks it up. */
  private String wordAt(SqlParserPos position) {
    Token token = tokens.get(tokens.indexOfFunction(position));
    return token.kind == TollgateParserConstants.QUOTED_IDENTIFIER
        ? Tokens.unquoted(token)
        : Tokens.upperCase(token);
  }

  /** Whether a call has an ORDER BY: in ARRAY_AGG(x ORDER BY y), the list of y is an operand. */
  private static boolean hasOrderBy(SqlCall call) {
    return call.getOperandList().stream().anyMatch(SqlNodeList.class::isInstance);
  }

  /** Refuses every version but 4, the default: version 7 begins with the clock of the replica. */
  private static void checkVersion(SqlCall call) {
    for (SqlNode operand : call.getOperandList()) {
      if (!(operand instanceof SqlNumericLiteral literal) || !literal.toValue().equals("4")) {
        throw Refusals.notAllowed(
            call.getParserPosition(),
            "RANDOM_UUID is allowed in version 4 only: other versions read the clock of one"
                + " replica");
      }
    }
  }

  /** Checks a LIKE, ILIKE or REGEXP, with or without NOT. */
  void pattern(SqlCall call) {
    if (call.getOperator().getName().endsWith("REGEXP")) {
      findings.tooDear(
          call.getParserPosition(),
          "REGEXP is not allowed in a statement that writes: "
              + Refusals.explanation(FunctionRules.ENDLESS_PATTERN, FunctionRules.LIKE_INSTEAD));
    }
  }

  void dataType(SqlDataTypeSpec type) {
    checkType(type.getTypeNameSpec());
  }

  private void checkType(SqlTypeNameSpec type) {
    if (type instanceof SqlCollectionTypeNameSpec array) {
      checkType(array.getElementTypeName());
    } else if (type instanceof SqlRowTypeNameSpec row) {
      row.getFieldTypes().forEach(field -> checkType(field.getTypeNameSpec()));
    } else {
      SqlIdentifier name = type.getTypeName();
      String word = name.names.get(name.names.size() - 1);
      if (TYPES_OF_JAVA.contains(word)) {
        throw Refusals.notAllowed(
            type.getParserPos(),
            "type " + word + " is not allowed: Java objects are not deserialized in the store");
      }
      if (word.equals("ENUM")) {
        checkValues(type.getParserPos());
      }
      checkLength(type.getParserPos());
    }
  }

  /**
   * Checks the n of CHAR(n) and BINARY(n), which pad every value to n. VARCHAR(n) and CLOB(n) do
   * not.
   */
  private void checkLength(SqlParserPos position) {
    int begin = tokens.indexAt(position);
    int index = begin;
    while (index < tokens.size() && FILLING_TYPES.contains(Tokens.upperCase(tokens.get(index)))) {
      index++;
    }
    boolean hasLength =
        index > begin
            && index < tokens.size()
            && tokens.get(index).kind == TollgateParserConstants.LPAREN;
    if (!hasLength) {
      return;
    }
    Token length = tokens.get(index + 1);
    if (isTooLong(length, tokens.get(index + 2))) {
      throw Refusals.notAllowed(
          tokens.get(index + 1),
          tokens.get(begin).image
              + "(n) has at most "
              + SqlLimits.FUNCTION_RESULT_LENGTH
              + " characters or bytes, because every value is filled up to them: write VARCHAR or"
              + " VARBINARY");
    }
  }

  /** Checks the n of DECFLOAT(n), which is 100,000 unless it is stated. */
  private void checkValues(SqlParserPos position) {
    int index = tokens.indexAt(position) + 1;
    int values = 1;
    while (index < tokens.size() && tokens.get(index).kind != TollgateParserConstants.RPAREN) {
      values += tokens.get(index).kind == TollgateParserConstants.COMMA ? 1 : 0;
      index++;
    }
    if (values > SqlLimits.VALUES_OF_AN_ENUM) {
      throw Refusals.tooLong(
          position,
          "an ENUM has at most "
              + SqlLimits.VALUES_OF_AN_ENUM
              + " values: keep them in a table, and refer to it with a foreign key");
    }
  }

  private static boolean isTooLong(Token length, Token unit) {
    return length.image.length() > DIGITS_OF_A_LENGTH
        || Integer.parseInt(length.image) > SqlLimits.FUNCTION_RESULT_LENGTH
        || MULTIPLES.contains(Tokens.upperCase(unit));
  }
}
