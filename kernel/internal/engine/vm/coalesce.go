package vm

import (
	"math/bits"

	"golang.org/x/tools/go/ssa"
)

// A φ value and a value that an edge copies to it share a slot where they are
// never both alive: then there is nothing to copy. A loop's i and its i+1 are
// such values.

// maxShared bounds the values that are looked at in a function.
const maxShared = 2048

// sharing finds which φ values and their operands share slots.
type sharing struct {
	k       *compiler
	number  map[ssa.Value]int
	values  []ssa.Value
	live    map[*ssa.BasicBlock]set // at the block's end
	clash   []set                   // by number: the values that are alive where it is written, or the reverse
	leader  []int                   // of the value's class
	members map[int][]int
}

// set is a set of numbers.
type set []uint64

func newSet(n int) set       { return make(set, (n+63)/64) }
func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) remove(i int)   { s[i/64] &^= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }
func (s set) each(f func(int)) {
	for w, x := range s {
		for ; x != 0; x &= x - 1 {
			f(w*64 + bits.TrailingZeros64(x))
		}
	}
}

// addAll reports whether s has grown.
func (s set) addAll(t set) bool {
	grown := false
	for i, x := range t {
		grown = grown || x&^s[i] != 0
		s[i] |= x
	}
	return grown
}

// share lets values share slots. It returns the first of each class for the
// others.
func (k *compiler) share() map[ssa.Value]ssa.Value {
	s := sharing{k: k, number: map[ssa.Value]int{}}
	for _, b := range k.fn.Blocks {
		for _, i := range b.Instrs {
			p, ok := i.(*ssa.Phi)
			if !ok {
				break
			}
			s.enter(p)
			for _, e := range p.Edges {
				if canShare(e) {
					s.enter(e)
				}
			}
		}
	}
	if len(s.values) < 2 || len(s.values) > maxShared {
		return nil
	}
	s.findLive()
	s.findClashes()
	s.leader, s.members = make([]int, len(s.values)), map[int][]int{}
	for i := range s.leader {
		s.leader[i], s.members[i] = i, []int{i}
	}
	for _, v := range s.values {
		if p, ok := v.(*ssa.Phi); ok {
			for _, e := range p.Edges {
				if n, ok := s.number[e]; ok {
					s.join(s.number[p], n)
				}
			}
		}
	}
	r := map[ssa.Value]ssa.Value{}
	for i, l := range s.leader {
		if i != l {
			r[s.values[i]] = s.values[l]
		}
	}
	return r
}

func (s *sharing) enter(v ssa.Value) {
	if _, ok := s.number[v]; !ok {
		s.number[v] = len(s.values)
		s.values = append(s.values, v)
	}
}

// canShare reports whether an operand has a slot of its own, which is written
// after all that its instruction reads.
func canShare(v ssa.Value) bool {
	switch v.(type) {
	case *ssa.Phi, *ssa.BinOp, *ssa.UnOp, *ssa.Convert, *ssa.Call, *ssa.Slice:
	default:
		return false
	}
	for _, r := range *v.Referrers() {
		if _, part := r.(*ssa.Field); part { // it lies in the value
			return false
		}
	}
	return true
}

// operands calls f for the values that an instruction reads at its place. A
// comparison that a branch makes is read by the branch.
func (s *sharing) operands(i ssa.Instruction, f func(int)) {
	if _, ok := i.(*ssa.Phi); ok || s.k.fused(i) {
		return
	}
	var buf [8]*ssa.Value
	for _, o := range i.Operands(buf[:0]) {
		if n, ok := s.number[*o]; ok {
			f(n)
		}
	}
	if br, ok := i.(*ssa.If); ok {
		if c, ok := br.Cond.(*ssa.BinOp); ok && s.k.fused(c) {
			for _, v := range []ssa.Value{c.X, c.Y} {
				if n, ok := s.number[v]; ok {
					f(n)
				}
			}
		}
	}
}

// findLive finds which values are alive at the end of each block: φ values
// read their operands there.
func (s *sharing) findLive() {
	blocks := s.k.fn.Blocks
	reads, writes, begin := map[*ssa.BasicBlock]set{}, map[*ssa.BasicBlock]set{}, map[*ssa.BasicBlock]set{}
	s.live = map[*ssa.BasicBlock]set{}
	for _, b := range blocks {
		r, w := newSet(len(s.values)), newSet(len(s.values))
		for _, i := range b.Instrs {
			s.operands(i, func(n int) {
				if !w.has(n) {
					r.add(n)
				}
			})
			if v, ok := i.(ssa.Value); ok {
				if n, ok := s.number[v]; ok {
					w.add(n)
				}
			}
		}
		reads[b], writes[b], begin[b], s.live[b] = r, w, newSet(len(s.values)), newSet(len(s.values))
	}
	for _, b := range blocks {
		for j, p := range b.Preds {
			for _, i := range b.Instrs {
				phi, ok := i.(*ssa.Phi)
				if !ok {
					break
				}
				if n, ok := s.number[phi.Edges[j]]; ok {
					s.live[p].add(n)
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for n := len(blocks) - 1; n >= 0; n-- {
			b := blocks[n]
			for _, next := range b.Succs {
				s.live[b].addAll(begin[next])
			}
			in := newSet(len(s.values))
			copy(in, s.live[b])
			for i := range in {
				in[i] = in[i]&^writes[b][i] | reads[b][i]
			}
			changed = begin[b].addAll(in) || changed
		}
	}
}

// findClashes finds which values must not share a slot.
func (s *sharing) findClashes() {
	s.clash = make([]set, len(s.values))
	for i := range s.clash {
		s.clash[i] = newSet(len(s.values))
	}
	write := func(n int, live set) {
		live.remove(n)
		live.each(func(m int) {
			s.clash[n].add(m)
			s.clash[m].add(n)
		})
	}
	live := newSet(len(s.values))
	for _, b := range s.k.fn.Blocks {
		copy(live, s.live[b])
		n := len(b.Instrs)
		for n--; n >= 0; n-- {
			i := b.Instrs[n]
			if _, ok := i.(*ssa.Phi); ok {
				break
			}
			if v, ok := i.(ssa.Value); ok {
				if m, ok := s.number[v]; ok {
					write(m, live)
				}
			}
			s.operands(i, live.add)
		}
		for m := n; m >= 0; m-- { // φ values are written at once
			live.add(s.number[b.Instrs[m].(*ssa.Phi)])
		}
		for m := n; m >= 0; m-- {
			p := s.number[b.Instrs[m].(*ssa.Phi)]
			write(p, live)
			live.add(p)
		}
	}
}

// join makes one class of two if no value of the one clashes with one of the
// other.
func (s *sharing) join(i, j int) {
	a, b := s.leader[i], s.leader[j]
	if a == b {
		return
	}
	for _, x := range s.members[a] {
		for _, y := range s.members[b] {
			if s.clash[x].has(y) {
				return
			}
		}
	}
	for _, y := range s.members[b] {
		s.leader[y] = a
	}
	s.members[a] = append(s.members[a], s.members[b]...)
	delete(s.members, b)
}
