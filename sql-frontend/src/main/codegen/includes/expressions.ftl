/* Pieces of expressions that H2 knows and Calcite does not. */

/** expression :: type */
void InfixCast(List<Object> list, ExprContext exprContext, Span s) :
{
    final SqlParserPos position;
    final SqlDataTypeSpec type;
}
{
    <INFIX_CAST> { checkNonQueryExpression(exprContext); position = getPos(); }
    type = DataType()
    {
        list.add(new SqlParserUtil.ToTreeListItem(H2Operators.INFIX_CAST, position));
        list.add(type);
    }
}

/** expression [NOT] REGEXP pattern, and its forms in PostgreSQL: expression ~ pattern, !~ and both with a star */
void Regexp(List<Object> list, ExprContext exprContext, Span s) :
{
    final SqlParserPos position;
    final List<Object> pattern;
}
{
    ( [ <NOT> ] <REGEXP> | ( <MATCHES_PATTERN> | <MATCHES_NO_PATTERN> ) [ LOOKAHEAD(1) <STAR> ] )
    { checkNonQueryExpression(exprContext); position = getPos(); }
    pattern = Expression2(ExprContext.ACCEPT_SUB_QUERY)
    {
        list.add(new SqlParserUtil.ToTreeListItem(H2Operators.REGEXP, position));
        list.addAll(pattern);
    }
}

/** timestamp AT TIME ZONE zone, timestamp AT LOCAL */
void AtTimeZone(List<Object> list, ExprContext exprContext, Span s) :
{ final SqlParserPos position; }
{
    <AT> { checkNonQueryExpression(exprContext); position = getPos(); }
    (
        <TIME> <ZONE> { list.add(new SqlParserUtil.ToTreeListItem(H2Operators.AT_TIME_ZONE, position)); }
        AddExpression2b(list, ExprContext.ACCEPT_SUB_QUERY)
    |
        <LOCAL> { list.add(new SqlParserUtil.ToTreeListItem(H2Operators.AT_LOCAL, position)); }
    )
}

/** JSON '{"a": 1}', JSON X'31', GEOMETRY 'POINT (1 2)' */
SqlLiteral JsonOrGeometryLiteral() :
{
    final Span s;
    final String type;
}
{
    ( <JSON> | <GEOMETRY> ) { s = span(); type = getToken(0).image; }
    // the checks only have to know that there is a value
    ( SimpleStringLiteral() | <BINARY_STRING_LITERAL> )
    // strings in a row are one string
    ( LOOKAHEAD(1) <QUOTED_STRING> )*
    { return SqlLiteral.createUnknown(type, getToken(0).image, s.end(this)); }
}

/** DATEADD(unit, n, t) and DATEDIFF(unit, a, b): the unit is a keyword or a string. */
SqlNode DatePartFunctionCall() :
{
    final Span s;
    final String name;
    SqlNode unit;
    final List<SqlNode> arguments = new ArrayList<SqlNode>();
}
{
    ( <DATEADD> { name = "DATEADD"; } | <DATEDIFF> { name = "DATEDIFF"; } ) { s = span(); }
    <LPAREN> ( unit = StringLiteral() | unit = TimeUnitOrName() ) { arguments.add(unit); }
    <COMMA> AddExpression(arguments, ExprContext.ACCEPT_SUB_QUERY)
    <COMMA> AddExpression(arguments, ExprContext.ACCEPT_SUB_QUERY)
    <RPAREN>
    { return H2Operators.datePartFunction(name).createCall(s.end(this), arguments); }
}

/**
 * [DISTINCT] ON (expressions) and TOP n. Spliced into SqlSelect by patch-template.xml, where the expressions join the list
 * of hints, so that the checks see them.
 */
void SelectPrefix(List<SqlNode> kept) :
{ final SqlNode count; }
{
    [ <ON> <LPAREN> AddExpressions(kept, ExprContext.ACCEPT_SUB_QUERY) <RPAREN> ]
    [
        // TOP may also be the name of a column: it is a limit only in front of a number, a parameter or a parenthesis
        LOOKAHEAD({ isNext("TOP")
            && (getToken(2).kind == UNSIGNED_INTEGER_LITERAL || getToken(2).kind == HOOK || getToken(2).kind == LPAREN) })
        <IDENTIFIER>
        (
            count = UnsignedNumericLiteralOrParam()
        |
            <LPAREN> count = Expression(ExprContext.ACCEPT_SUB_QUERY) <RPAREN>
        )
        { kept.add(count); }
        [ LOOKAHEAD(1) <PERCENT> ] [ <WITH> <TIES> ]
    ]
}

/** expression IS [NOT] DISTINCT FROM ALL (values): the checks treat it as a comparison with = */
void IsDistinctFromAll(List<Object> list, ExprContext exprContext, Span s) :
{
    final SqlParserPos position;
    final SqlOperator operator;
    final SqlNodeList values;
}
{
    <IS> { checkNonQueryExpression(exprContext); position = getPos(); } [ <NOT> ] <DISTINCT> <FROM>
    (
        <ALL> { operator = SqlStdOperatorTable.all(SqlKind.EQUALS); }
    |
        ( <ANY> | <SOME> ) { operator = SqlStdOperatorTable.some(SqlKind.EQUALS); }
    )
    values = ParenthesizedQueryOrCommaList(ExprContext.ACCEPT_NONCURSOR)
    {
        list.add(new SqlParserUtil.ToTreeListItem(operator, position));
        list.add(values.size() == 1 && values.get(0).isA(SqlKind.QUERY) ? values.get(0) : values);
    }
}

/**
 * CASE a WHEN IN (1, 2) THEN, WHEN IS NULL THEN, WHEN < 3 THEN. Spliced into CaseExpression by
 * patch-template.xml. A pattern needs CASE WHEN a LIKE, because the checks have to see both sides of a pattern.
 */
SqlNodeList CasePredicate() :
{
    final List<SqlNode> parts = new ArrayList<SqlNode>();
    final SqlNodeList values;
    final Span s;
}
{
    (
        LOOKAHEAD(2)
        [ <NOT> ] <IN> { s = span(); }
        (
            LOOKAHEAD({ isEmptyListNext() }) <LPAREN> <RPAREN>
        |
            values = ParenthesizedQueryOrCommaList(ExprContext.ACCEPT_NONCURSOR) { parts.addAll(values.getList()); }
        )
    |
        // the AND of BETWEEN a AND b is read as a part of the expression
        [ <NOT> ] <BETWEEN> { s = span(); } [ <SYMMETRIC> | <ASYMMETRIC> ] AddExpression(parts, ExprContext.ACCEPT_SUB_QUERY)
    |
        <IS> { s = span(); } [ <NOT> ]
        (
            <NULL> | <TRUE> | <FALSE> | <UNKNOWN>
        |
            <JSON> [ LOOKAHEAD(1) ( <VALUE> | <OBJECT> | <ARRAY> | <SCALAR> ) ] UniqueKeys()
        |
            <DISTINCT> <FROM> AddComparand(parts)
        )
    |
        comp() { s = span(); } AddComparand(parts)
    )
    { return new SqlNodeList(parts, s.end(this)); }
}

/** expression, or ALL | ANY | SOME (values) */
void AddComparand(List<SqlNode> parts) :
{ final SqlNodeList values; }
{
    LOOKAHEAD({ isQuantifierNext(1) }) ( <ALL> | <ANY> | <SOME> )
    values = ParenthesizedQueryOrCommaList(ExprContext.ACCEPT_NONCURSOR) { parts.addAll(values.getList()); }
|
    AddExpression(parts, ExprContext.ACCEPT_SUB_QUERY)
}

/** (), ROW(): a row without fields. Spliced into Expression3 by patch-template.xml. */
SqlNode EmptyTuple() :
{ final Span s; }
{
    ( <ROW> { s = span(); } <LPAREN> | <LPAREN> { s = span(); } ) <RPAREN>
    { return SqlStdOperatorTable.ROW.createCall(s.end(this), new ArrayList<SqlNode>()); }
}

/** 'DAY' as the part of a date. Spliced into TIMESTAMPADD and TIMESTAMPDIFF by patch-template.xml. */
void DatePart(List<SqlNode> arguments) :
{ final SqlNode part; }
{
    part = StringLiteral() { arguments.add(part); }
}

/** expression IS [NOT] OF (types) */
void IsOf(List<Object> list, ExprContext exprContext, Span s) :
{
    final SqlParserPos position;
    final List<SqlNode> types = new ArrayList<SqlNode>();
    SqlNode type;
}
{
    <IS> { checkNonQueryExpression(exprContext); position = getPos(); } [ <NOT> ] <OF>
    <LPAREN> type = DataType() { types.add(type); } ( <COMMA> type = DataType() { types.add(type); } )* <RPAREN>
    {
        list.add(new SqlParserUtil.ToTreeListItem(H2Operators.IS_OF, position));
        list.add(new SqlNodeList(types, getPos()));
    }
}

/** expression IS [NOT] JSON [VALUE | ARRAY | OBJECT | SCALAR] [{ WITH | WITHOUT } UNIQUE [KEYS]] */
void IsJson(List<Object> list, ExprContext exprContext, Span s) :
{ final SqlParserPos position; }
{
    <IS> { checkNonQueryExpression(exprContext); position = getPos(); } [ <NOT> ] <JSON>
    [ LOOKAHEAD(1) ( <VALUE> | <OBJECT> | <ARRAY> | <SCALAR> ) ]
    UniqueKeys()
    { list.add(new SqlParserUtil.ToTreeListItem(SqlStdOperatorTable.IS_JSON_VALUE, position)); }
}

/** Follows IS JSON, and is spliced into JSON_OBJECT and JSON_OBJECTAGG by patch-template.xml. */
void UniqueKeys() :
{}
{
    [
        LOOKAHEAD({ areKindsNext(WITH, UNIQUE) || areKindsNext(WITHOUT, UNIQUE) })
        ( <WITH> | <WITHOUT> ) <UNIQUE> [ LOOKAHEAD({ isNext("KEYS") }) <IDENTIFIER> ]
    ]
}

/** JSON_OBJECTAGG(...) FILTER (...) OVER (...). patch-template.xml puts it in place of Calcite's. */
SqlCall JsonObjectAgg() :
{ SqlCall call; }
{
    call = JsonObjectAggFunctionCall() call = AggregateTail(call)
    { return call; }
}

/** JSON_ARRAYAGG(...) FILTER (...) OVER (...). patch-template.xml puts it in place of Calcite's. */
SqlCall JsonArrayAgg() :
{ SqlCall call; }
{
    call = JsonArrayAggFunctionCall()
    {
        if (call.getKind() == SqlKind.WITHIN_GROUP) {
            // Calcite loses the position of the call, and so the positions of all calls around it
            final SqlParserPos end = getPos();
            call = SqlStdOperatorTable.WITHIN_GROUP.createCall(
                call.operand(0).getParserPosition().plus(end), call.getOperandList());
        }
    }
    call = AggregateTail(call)
    { return call; }
}

SqlCall AggregateTail(SqlCall aggregate) :
{
    SqlCall call = aggregate;
    SqlNode part;
    Span s;
}
{
    [
        <FILTER> { s = span(); }
        <LPAREN> <WHERE> part = Expression(ExprContext.ACCEPT_SUB_QUERY) <RPAREN>
        { call = SqlStdOperatorTable.FILTER.createCall(s.end(this), call, part); }
    ]
    [
        <OVER> { s = span(); }
        ( part = SimpleIdentifier() | part = WindowSpecification() )
        { call = SqlStdOperatorTable.OVER.createCall(s.end(part), call, part); }
    ]
    { return call; }
}

/** MODE(a), MODE(a ORDER BY a), MODE() WITHIN GROUP (...). Spliced in front of other calls by patch-template.xml. */
SqlCall ModeCall() :
{
    final Span s;
    final SqlIdentifier name;
    final List<SqlNode> arguments = new ArrayList<SqlNode>();
    final SqlNodeList order;
}
{
    name = SimpleIdentifier() { s = span(); }
    <LPAREN>
    [
        AddExpression(arguments, ExprContext.ACCEPT_SUB_QUERY)
        [ order = OrderBy(true) { arguments.add(order); } ]
    ]
    <RPAREN>
    { return createCall(name, s.end(this), SqlFunctionCategory.USER_DEFINED_FUNCTION, null, arguments); }
}

/** NTH_VALUE(x, 2) FROM LAST. Spliced in front of RESPECT NULLS by patch-template.xml. */
void FromFirstOrLast(SqlCall call) :
{}
{
    [
        LOOKAHEAD({ isFromFirstOrLastNext() })
        <FROM> ( <FIRST> | <LAST> )
        {
            if (!call.getOperator().getName().equalsIgnoreCase("NTH_VALUE")) {
                throw new GrammarException(getPos(), "FROM FIRST and FROM LAST are for NTH_VALUE alone");
            }
        }
    ]
}

/** EXCEPT (a, t.b) after a star. Spliced in by patch-template.xml. Omitted columns need no check. */
void ExceptColumns() :
{}
{
    [
        LOOKAHEAD({ getToken(0).kind == STAR && areKindsNext(EXCEPT, LPAREN) })
        <EXCEPT> <LPAREN> CompoundIdentifier() ( <COMMA> CompoundIdentifier() )* <RPAREN>
    ]
}

/** What LISTAGG does when its result is too long; spliced into the arguments of every function by patch-template.xml. */
void OnOverflow() :
{}
{
    <ON> Word("OVERFLOW")
    (
        <ERROR>
    |
        <TRUNCATE> [ StringLiteral() ] ( <WITH> | <WITHOUT> ) <COUNT>
    )
}

/** TABLE(id INT = (1, 2), name VARCHAR = ('a', 'b')). Spliced into TableRef3 by patch-template.xml. */
SqlNode ColumnTable() :
{
    final Span s;
    final List<SqlNode> parts = new ArrayList<SqlNode>();
}
{
    <TABLE> { s = span(); }
    <LPAREN> TableColumn(parts) ( <COMMA> TableColumn(parts) )* <RPAREN>
    { return SqlStdOperatorTable.UNNEST.createCall(s.end(this), parts); }
}

void TableColumn(List<SqlNode> parts) :
{ SqlNode part; }
{
    SimpleIdentifier() part = DataType() { parts.add(part); }
    <EQ> part = Expression(ExprContext.ACCEPT_SUB_QUERY) { parts.add(part); }
}
