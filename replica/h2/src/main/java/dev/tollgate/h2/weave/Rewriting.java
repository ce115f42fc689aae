package dev.tollgate.h2.weave;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** One class of H2 on its way through the weaver. */
final class Rewriting extends ClassVisitor {
  /** The class with a field by which a node knows a rewritten H2. */
  private static final String MARKED = "org/h2/engine/Constants";

  private final String name;
  private final Replacements replacements;

  Rewriting(String name, Replacements replacements, ClassVisitor next) {
    super(Opcodes.ASM9, next);
    this.name = name;
    this.replacements = replacements;
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
    return new Body(super.visitMethod(access, method, descriptor, signature, exceptions));
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
        String instead = made ? Replacements.ofType(owner) : null;
        super.visitMethodInsn(
            opcode, instead == null ? owner : instead, method, descriptor, isInterface);
        return;
      }
      Handle instead = replacements.ofCall(name, owner, method, descriptor);
      if (instead == null) {
        super.visitMethodInsn(opcode, owner, method, descriptor, isInterface);
      } else {
        super.visitMethodInsn(
            Opcodes.INVOKESTATIC, instead.getOwner(), instead.getName(), instead.getDesc(), false);
      }
    }

    @Override
    public void visitInvokeDynamicInsn(
        String method, String descriptor, Handle bootstrap, Object... arguments) {
      Object[] rewritten = arguments.clone();
      for (int i = 0; i < rewritten.length; i++) {
        if (rewritten[i] instanceof Handle handle) {
          rewritten[i] = rewritten(handle);
        }
      }
      super.visitInvokeDynamicInsn(method, descriptor, bootstrap, rewritten);
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
}
