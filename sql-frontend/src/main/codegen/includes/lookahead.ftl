    // What our productions ask about the tokens ahead. Spliced into the class by patch-template.xml: a production with
    // JAVACODE would not do, because it may throw and JavaCC asks these also where nothing may be thrown.

    /** Whether the next token is this word, unquoted. For words of H2 that are no tokens of the grammar. */
    private boolean isNext(String word) {
        return getToken(1).image.equalsIgnoreCase(word);
    }

    private boolean areNext(String first, String second) {
        return isNext(first) && getToken(2).image.equalsIgnoreCase(second);
    }

    private boolean areKindsNext(int first, int second) {
        return getToken(1).kind == first && getToken(2).kind == second;
    }

    /** Whether IS [NOT] JSON follows. */
    private boolean isJsonPredicateNext() {
        return getToken(1).kind == IS && getToken(getToken(2).kind == NOT ? 3 : 2).kind == JSON;
    }

    /** Whether FROM FIRST OVER or the like follows: not the FROM of a query, whose table has no such alias. */
    private boolean isFromFirstOrLastNext() {
        if (!areKindsNext(FROM, FIRST) && !areKindsNext(FROM, LAST)) {
            return false;
        }
        int third = getToken(3).kind;
        return third == OVER || (third == RESPECT || third == IGNORE) && getToken(4).kind == NULLS;
    }

    /** Whether an IN follows whose list is empty. */
    private boolean isEmptyListNext() {
        return areKindsNext(LPAREN, RPAREN);
    }

    /** Whether VALUES () follows. */
    private boolean isEmptyRowNext() {
        return getToken(1).kind == VALUES && getToken(2).kind == LPAREN && getToken(3).kind == RPAREN;
    }

    /** Whether RESTART WITH ? follows. */
    private boolean isRestartWithNext() {
        return areKindsNext(RESTART, WITH) && getToken(3).kind == HOOK;
    }

    /** Whether NULL ON NULL follows, and not the value NULL. */
    private boolean isNullClauseNext() {
        return getToken(1).kind == NULL && getToken(2).kind == ON;
    }

    /** Whether NULLS [NOT | ALL] DISTINCT follows. */
    private boolean isNullsDistinctNext() {
        int second = getToken(2).kind;
        return getToken(1).kind == NULLS && (second == NOT || second == ALL || second == DISTINCT);
    }

    /** Whether [OR REPLACE] [FORCE] VIEW follows. */
    private boolean isCreateViewNext() {
        int index = getToken(1).kind == OR && getToken(2).kind == REPLACE ? 3 : 1;
        return getToken(index).kind == VIEW
            || getToken(index).image.equalsIgnoreCase("FORCE") && getToken(index + 1).kind == VIEW;
    }

    /** Whether IS [NOT] OF follows. */
    private boolean isTypePredicateNext() {
        return getToken(1).kind == IS && getToken(getToken(2).kind == NOT ? 3 : 2).kind == OF;
    }

    /** Whether TABLE(name type = ...) follows, and not TABLE(function(...)). */
    private boolean isColumnTableNext() {
        return getToken(1).kind == TABLE && getToken(2).kind == LPAREN
            && getToken(4).kind != LPAREN && getToken(4).kind != DOT;
    }

    /** After the name of a column: whether its type follows, not an option or the end of the definition. */
    private boolean isColumnTypeNext() {
        switch (getToken(1).kind) {
            case EOF:
            case COMMA:
            case RPAREN:
            case FENCED:
            case AS:
            case CHECK:
            case CONSTRAINT:
            case DEFAULT_:
            case GENERATED:
            case IDENTITY:
            case NOT:
            case NULL:
            case ON:
            case PRIMARY:
            case REFERENCES:
            case UNIQUE:
                return false;
            default:
                return !isNext("AUTO_INCREMENT") && !isNext("COMMENT") && !isNext("INVISIBLE") && !isNext("VISIBLE");
        }
    }
