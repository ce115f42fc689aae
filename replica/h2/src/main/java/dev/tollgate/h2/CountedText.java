package dev.tollgate.h2;

/** A text in which each character that a pattern looks at is a step. */
record CountedText(CharSequence text) implements CharSequence {
  @Override
  public int length() {
    return text.length();
  }

  @Override
  public char charAt(int index) {
    Meter.step();
    return text.charAt(index);
  }

  @Override
  public CharSequence subSequence(int from, int to) {
    return text.subSequence(from, to);
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
