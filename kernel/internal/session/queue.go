package session

import "sync"

// queue is an unbounded queue between goroutines: who puts never waits.
type queue[T any] struct {
	mu     sync.Mutex
	items  []T
	closed bool
	ready  chan struct{} // holds a token when something may be there
}

func newQueue[T any]() *queue[T] { return &queue[T]{ready: make(chan struct{}, 1)} }

func (q *queue[T]) put(item T) {
	q.mu.Lock()
	q.items = append(q.items, item)
	q.mu.Unlock()
	q.signal()
}

func (q *queue[T]) signal() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// get waits for an item; ok is false when the queue is closed.
func (q *queue[T]) get() (item T, ok bool) {
	for {
		q.mu.Lock()
		if q.closed {
			q.mu.Unlock()
			q.signal() // for who else waits
			return item, false
		}
		if len(q.items) > 0 {
			item = q.items[0]
			q.items = q.items[1:]
			q.mu.Unlock()
			return item, true
		}
		q.mu.Unlock()
		<-q.ready
	}
}

// take removes and returns the items that match, in order.
func (q *queue[T]) take(match func(T) bool) (taken []T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var rest []T
	for _, item := range q.items {
		if match(item) {
			taken = append(taken, item)
		} else {
			rest = append(rest, item)
		}
	}
	q.items = rest
	return taken
}

func (q *queue[T]) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}
