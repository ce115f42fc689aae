package dev.tollgate.h2.weave;

import dev.tollgate.h2.ChargedArrays;
import dev.tollgate.h2.Meter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** One class of H2 on its way through the weaver. */
final class Rewriting extends ClassVisitor {
  /** Of the methods with which expressions compute their values. */
  private static final String EVALUATION = "(Lorg/h2/engine/SessionLocal;)Lorg/h2/value/Value;";

  private static final String EXPRESSIONS = "org/h2/expression/";

  /**
   * What it takes to go to a part of an expression, which lies elsewhere in memory. H2 goes through
   * all conditions of a query once for each of its tables.
   */
  private static final Long STEPS_OF_A_DESCENT = 4L;

  private static final String METER = Type.getInternalName(Meter.class);

  /** The class with a field by which a node knows a rewritten H2. */
  private static final String MARKED = "org/h2/engine/Constants";

  private final String name;
  private final Replacements replacements;
  private final boolean counted;

  /**
   * @param counted whether its loops are counted
   */
  Rewriting(String name, Replacements replacements, boolean counted, ClassVisitor next) {
    super(Opcodes.ASM9, next);
    this.name = name;
    this.replacements = replacements;
    this.counted = counted;
  }

  @Override
  public void visitEnd() {
    if (name.equals(MARKED)) {
      visitField(
              Opcodes.ACC_PUBLIC | Opcodes.ACC_STATIC | Opcodes.ACC_FINAL | Opcodes.ACC_SYNTHETIC,
              "REWRITTEN",
              "Z",
              null,
              1)
          .visitEnd();
    }
    super.visitEnd();
  }

  @Override
  public MethodVisitor visitMethod(
      int access,
      String method,
      String descriptor,
      @Nullable String signature,
      String @Nullable [] exceptions) {
    MethodVisitor body =
        new Body(super.visitMethod(access, method, descriptor, signature, exceptions));
    if (!counted) {
      return body;
    }
    MethodVisitor measured = new Arrays(body);
    return method.equals("<clinit>")
        ? new Initializer(measured)
        : new Loops(measured, method, descriptor);
  }

  private final class Body extends MethodVisitor {
    /** Classes of objects whose constructor has not been called yet. */
    private final Deque<String> unfinished = new ArrayDeque<>();

    Body(MethodVisitor next) {
      super(Opcodes.ASM9, next);
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
      String instead = opcode == Opcodes.NEW ? Replacements.ofType(type) : null;
      if (opcode == Opcodes.NEW) {
        unfinished.push(type);
      }
      super.visitTypeInsn(opcode, instead == null ? type : instead);
    }

    @Override
    public void visitMethodInsn(
        int opcode, String owner, String method, String descriptor, boolean isInterface) {
      if (opcode == Opcodes.INVOKESPECIAL) {
        // the constructor of a superclass belongs to no object that was begun here
        boolean made = method.equals("<init>") && owner.equals(unfinished.peek());
        if (made) {
          unfinished.pop();
        }
        Handle through = made ? replacements.ofArgument(owner, descriptor) : null;
        if (through != null) {
          call(through);
        }
        String instead = made ? Replacements.ofType(owner) : null;
        super.visitMethodInsn(
            opcode, instead == null ? owner : instead, method, descriptor, isInterface);
        return;
      }
      Handle instead = replacements.ofCall(name, owner, method, descriptor);
      if (instead == null) {
        super.visitMethodInsn(opcode, owner, method, descriptor, isInterface);
      } else {
        call(instead);
      }
    }

    @Override
    public void visitLdcInsn(Object value) {
      super.visitLdcInsn(NumberLimits.instead(name, value));
    }

    private void call(Handle method) {
      super.visitMethodInsn(
          Opcodes.INVOKESTATIC, method.getOwner(), method.getName(), method.getDesc(), false);
    }

    @Override
    public void visitInvokeDynamicInsn(
        String method, String descriptor, Handle bootstrap, Object... arguments) {
      Object[] rewritten = arguments.clone();
      String captures = descriptor;
      for (int i = 0; i < rewritten.length; i++) {
        if (rewritten[i] instanceof Handle handle) {
          Handle instead = rewritten(handle);
          rewritten[i] = instead;
          if (instead.getTag() == Opcodes.H_INVOKESTATIC && !instead.equals(handle)) {
            captures = capturing(descriptor, instead);
          }
        }
      }
      super.visitInvokeDynamicInsn(method, captures, bootstrap, rewritten);
    }

    /** What a reference captures has to have exactly the types of the method's first parameters. */
    private static String capturing(String descriptor, Handle method) {
      Type[] captured = Type.getArgumentTypes(descriptor);
      System.arraycopy(Type.getArgumentTypes(method.getDesc()), 0, captured, 0, captured.length);
      return Type.getMethodDescriptor(Type.getReturnType(descriptor), captured);
    }

    private Handle rewritten(Handle handle) {
      if (handle.getTag() == Opcodes.H_NEWINVOKESPECIAL) {
        String instead = Replacements.ofType(handle.getOwner());
        return instead == null
            ? handle
            : new Handle(handle.getTag(), instead, handle.getName(), handle.getDesc(), false);
      }
      Handle instead =
          replacements.ofCall(name, handle.getOwner(), handle.getName(), handle.getDesc());
      return instead == null ? handle : instead;
    }
  }

  /** Counts each array before it is made. */
  private static final class Arrays extends MethodVisitor {
    private static final int REFERENCE_BYTES = 4;

    Arrays(MethodVisitor next) {
      super(Opcodes.ASM9, next);
    }

    @Override
    public void visitIntInsn(int opcode, int operand) {
      if (opcode == Opcodes.NEWARRAY) {
        count(
            switch (operand) {
              case Opcodes.T_BOOLEAN, Opcodes.T_BYTE -> Byte.BYTES;
              case Opcodes.T_CHAR, Opcodes.T_SHORT -> Character.BYTES;
              case Opcodes.T_INT, Opcodes.T_FLOAT -> Integer.BYTES;
              default -> Long.BYTES;
            });
      }
      super.visitIntInsn(opcode, operand);
    }

    @Override
    public void visitTypeInsn(int opcode, String type) {
      if (opcode == Opcodes.ANEWARRAY) {
        count(REFERENCE_BYTES);
      }
      super.visitTypeInsn(opcode, type);
    }

    private void count(int elementBytes) {
      super.visitInsn(Opcodes.DUP);
      super.visitIntInsn(Opcodes.BIPUSH, elementBytes);
      super.visitMethodInsn(
          Opcodes.INVOKESTATIC,
          Type.getInternalName(ChargedArrays.class),
          "made",
          "(II)V",
          /* isInterface= */ false);
    }
  }

  /**
   * Counts each turn of a loop, which is a jump back to what has been passed, each evaluation of an
   * expression, each call that goes on to a part of an expression, and how deep a method calls
   * itself.
   */
  private final class Loops extends MethodVisitor {
    private final Set<Label> passed = new HashSet<>();
    private final String method;
    private final String descriptor;

    Loops(MethodVisitor next, String method, String descriptor) {
      super(Opcodes.ASM9, next);
      this.method = method;
      this.descriptor = descriptor;
    }

    @Override
    public void visitCode() {
      super.visitCode();
      if (method.equals("getValue") && descriptor.equals(EVALUATION)) {
        callMeter(this, "step");
      }
    }

    @Override
    public void visitMethodInsn(
        int opcode, String owner, String called, String parameters, boolean isInterface) {
      boolean itself =
          owner.equals(name)
              && called.equals(method)
              && parameters.equals(descriptor)
              && !called.equals("<init>");
      if (itself) {
        callMeter(this, "enter");
      }
      if (isDescent(opcode, called, parameters)) {
        super.visitLdcInsn(STEPS_OF_A_DESCENT);
        super.visitMethodInsn(Opcodes.INVOKESTATIC, METER, "steps", "(J)V", false);
      }
      super.visitMethodInsn(opcode, owner, called, parameters, isInterface);
      if (itself) {
        callMeter(this, "leave");
      }
    }

    /** An expression does with one of its parts what is done with the expression. */
    private boolean isDescent(int opcode, String called, String parameters) {
      return name.startsWith(EXPRESSIONS)
          && opcode != Opcodes.INVOKESPECIAL
          && called.equals(method)
          && parameters.equals(descriptor)
          && !descriptor.equals(EVALUATION);
    }

    @Override
    public void visitLabel(Label label) {
      passed.add(label);
      super.visitLabel(label);
    }

    @Override
    public void visitJumpInsn(int opcode, Label label) {
      if (passed.contains(label)) {
        callMeter(this, "step");
      }
      super.visitJumpInsn(opcode, label);
    }

    @Override
    public void visitTableSwitchInsn(int min, int max, Label otherwise, Label... labels) {
      countSwitch(otherwise, labels);
      super.visitTableSwitchInsn(min, max, otherwise, labels);
    }

    @Override
    public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] labels) {
      countSwitch(otherwise, labels);
      super.visitLookupSwitchInsn(otherwise, keys, labels);
    }

    private void countSwitch(Label otherwise, Label[] labels) {
      if (passed.contains(otherwise) || Stream.of(labels).anyMatch(passed::contains)) {
        callMeter(this, "step");
      }
    }
  }

  /** What runs once in a process counts for no statement. */
  private static final class Initializer extends MethodVisitor {
    Initializer(MethodVisitor next) {
      super(Opcodes.ASM9, next);
    }

    @Override
    public void visitCode() {
      super.visitCode();
      callMeter(this, "pause");
    }

    @Override
    public void visitInsn(int opcode) {
      if (opcode == Opcodes.RETURN) {
        callMeter(this, "resume");
      }
      super.visitInsn(opcode);
    }
  }

  private static void callMeter(MethodVisitor body, String method) {
    body.visitMethodInsn(Opcodes.INVOKESTATIC, METER, method, "()V", false);
  }
}
