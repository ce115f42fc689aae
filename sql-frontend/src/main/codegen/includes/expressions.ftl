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

/** expression [NOT] REGEXP pattern */
void Regexp(List<Object> list, ExprContext exprContext, Span s) :
{
    final SqlParserPos position;
    final List<Object> pattern;
}
{
    [ <NOT> ] <REGEXP> { checkNonQueryExpression(exprContext); position = getPos(); }
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

/** JSON '{"a": 1}' */
SqlLiteral JsonLiteral() :
{
    final Span s;
    final String text;
}
{
    <JSON> { s = span(); } text = SimpleStringLiteral()
    { return SqlLiteral.createUnknown("JSON", text, s.end(this)); }
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

/** Behind IS JSON, and spliced into JSON_OBJECT and JSON_OBJECTAGG by patch-template.xml. */
void UniqueKeys() :
{}
{
    [
        LOOKAHEAD({ areKindsNext(WITH, UNIQUE) || areKindsNext(WITHOUT, UNIQUE) })
        ( <WITH> | <WITHOUT> ) <UNIQUE> [ LOOKAHEAD({ isNext("KEYS") }) <IDENTIFIER> ]
    ]
}

/** JSON_OBJECTAGG(...) FILTER (...) OVER (...). Put in the place of Calcite's by patch-template.xml. */
SqlCall JsonObjectAgg() :
{ SqlCall call; }
{
    call = JsonObjectAggFunctionCall() call = AggregateTail(call)
    { return call; }
}

/** JSON_ARRAYAGG(...) FILTER (...) OVER (...). Put in the place of Calcite's by patch-template.xml. */
SqlCall JsonArrayAgg() :
{ SqlCall call; }
{
    call = JsonArrayAggFunctionCall()
    {
        if (call.getKind() == SqlKind.WITHIN_GROUP) {
            // Calcite forgets where it stands, and so where all calls around it stand
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

/** EXCEPT (a, t.b) behind a star. Spliced in by patch-template.xml: what is left out is nothing to check. */
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
