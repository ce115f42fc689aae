/** Data types of H2 for which Calcite has no name. The parser tries them before Calcite's own. */
SqlTypeNameSpec H2DataType() :
{
    final Span s;
    final String name;
}
{
    (
        LOOKAHEAD({ isNext("ENUM") })
        <IDENTIFIER> { s = span(); name = "ENUM"; }
        <LPAREN> StringLiteral() ( <COMMA> StringLiteral() )* <RPAREN>
    |
        LOOKAHEAD(2)
        <FLOAT> { s = span(); name = "FLOAT"; } TypeLength()
    |
        // GEOMETRY(POINT Z, 4326)
        LOOKAHEAD(2)
        <GEOMETRY> { s = span(); name = "GEOMETRY"; }
        <LPAREN> ( <GEOMETRY> | <IDENTIFIER> [ <M> | <IDENTIFIER> ] ) [ <COMMA> SignedInteger() ] <RPAREN>
    |
        // JSON(1000)
        LOOKAHEAD(2)
        <JSON> { s = span(); name = "JSON"; } TypeLength()
    |
        LOOKAHEAD({ isTypeOfAnyLengthNext() })
        ( <VARCHAR> | <VARBINARY> | <IDENTIFIER> ) { s = span(); name = "CHARACTER"; } <LPAREN> <MAX> <RPAREN>
    |
        // TIMESTAMP(23, 3), of which H2 takes the second number
        LOOKAHEAD({ isTimestampOfTwoNumbersNext() })
        <TIMESTAMP> { s = span(); name = "TIMESTAMP"; }
        <LPAREN> <UNSIGNED_INTEGER_LITERAL> <COMMA> <UNSIGNED_INTEGER_LITERAL> <RPAREN>
    |
        LOOKAHEAD({ areNext("LONG", "RAW") })
        <IDENTIFIER> { s = span(); name = "LONG RAW"; } <IDENTIFIER> [ LOOKAHEAD(2) TypeLength() ]
    |
        // CHARACTER LARGE OBJECT(1000), BINARY LARGE OBJECT
        LOOKAHEAD(2)
        ( <CHARACTER> | <CHAR> | <BINARY> ) { s = span(); name = "LOB"; } <LARGE> <OBJECT> [ LOOKAHEAD(2) TypeLength() ]
    |
        LOOKAHEAD(2)
        <NATIONAL> { s = span(); name = "NATIONAL"; } ( <CHARACTER> | <CHAR> )
        ( LOOKAHEAD(1) <VARYING> | LOOKAHEAD(2) <LARGE> <OBJECT> | {} ) [ LOOKAHEAD(2) TypeLength() ]
    |
        <NCHAR> { s = span(); name = "NCHAR"; } ( LOOKAHEAD(1) <VARYING> | LOOKAHEAD(2) <LARGE> <OBJECT> | {} ) [ LOOKAHEAD(2) TypeLength() ]
    |
        // VARCHAR(255), VARCHAR(255 CHAR), CHARACTER VARYING(255 CHARACTERS)
        LOOKAHEAD( ( <VARCHAR> | ( <CHARACTER> | <CHAR> ) [ <VARYING> ] ) <LPAREN> )
        ( <VARCHAR> { s = span(); } | ( <CHARACTER> | <CHAR> ) { s = span(); } [ <VARYING> ] )
        { name = "CHARACTER"; } TypeLength()
    |
        // CHARACTER VARYING without a length, which two tokens do not tell from the type with a length
        LOOKAHEAD(2)
        ( <CHARACTER> | <CHAR> ) { s = span(); name = "CHARACTER"; } <VARYING>
    |
        // TEXT, LONG, VARCHAR_IGNORECASE(10), NUMBER(10, 2), and every domain
        LOOKAHEAD( ( <BLOB> | <CLOB> | <NCLOB> | <DATETIME> | <BIT> | <NUMBER> | <IDENTIFIER> ), { getToken(2).kind != DOT } )
        ( <BLOB> | <CLOB> | <NCLOB> | <DATETIME> | <BIT> | <NUMBER> | <IDENTIFIER> )
        { s = span(); name = unquotedIdentifier(); }
        [ LOOKAHEAD(2) TypeLength() ]
    )
    { return new H2TypeName(name, s.end(this)); }
}

/** (10), (10, 2), (10 CHARACTERS), (10K CHARACTERS) */
void TypeLength() :
{}
{
    <LPAREN> <UNSIGNED_INTEGER_LITERAL> [ LengthUnit() [ <CHARACTERS> | <OCTETS> ] | <COMMA> <UNSIGNED_INTEGER_LITERAL> ] <RPAREN>
}

void LengthUnit() :
{}
{
    <CHARACTERS> | <CHAR> | <OCTETS> | <K> | <M> | <G> | <IDENTIFIER>
}
