#include "textflag.h"

// Piece i jumps to the closure methods[i], arguments untouched: R12 and R13
// are free at a call, DX holds the closure. Each takes stubSize bytes.

#define P1(i) PCALIGN $16; MOVL $(i), R12; JMP ·dispatch(SB);
#define P4(i) P1(i) P1(i+1) P1(i+2) P1(i+3)
#define P16(i) P4(i) P4(i+4) P4(i+8) P4(i+12)
#define P64(i) P16(i) P16(i+16) P16(i+32) P16(i+48)
#define P256(i) P64(i) P64(i+64) P64(i+128) P64(i+192)
#define P1024(i) P256(i) P256(i+256) P256(i+512) P256(i+768)
#define P4096(i) P1024(i) P1024(i+1024) P1024(i+2048) P1024(i+3072)

TEXT ·pieces(SB), NOSPLIT|NOFRAME, $0-0
	P4096(0)
	RET

TEXT ·dispatch(SB), NOSPLIT|NOFRAME, $0-0
	LEAQ ·methods(SB), R13
	MOVQ (R13)(R12*8), DX
	MOVQ (DX), R12
	JMP  R12

// The code of a Func: it goes on to the closure that lies behind it.
TEXT ·forward(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ 8(DX), DX
	MOVQ (DX), R12
	JMP  R12

DATA ·stubs+0(SB)/8, $·pieces(SB)
GLOBL ·stubs(SB), NOPTR, $8
DATA ·enter+0(SB)/8, $·forward(SB)
GLOBL ·enter(SB), NOPTR, $8

// func Goroutine() uintptr
TEXT ·Goroutine(SB), NOSPLIT, $0-8
	MOVQ (TLS), AX
	MOVQ AX, ret+0(FP)
	RET
