package agent

import "container/list"

// An lru remembers the values used last, up to a count and a weight. It is not safe
// for use by several goroutines at once.
type lru[K comparable, V any] struct {
	maxCount  int
	maxWeight int
	weight    int
	order     *list.List // of *entry, the newest first
	entries   map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key    K
	value  V
	weight int
}

func newLRU[K comparable, V any](maxCount, maxWeight int) *lru[K, V] {
	return &lru[K, V]{maxCount: maxCount, maxWeight: maxWeight, order: list.New(), entries: make(map[K]*list.Element)}
}

// get returns a value and makes it the newest.
func (r *lru[K, V]) get(key K) (value V, ok bool) {
	element, ok := r.entries[key]
	if !ok {
		return value, false
	}
	r.order.MoveToFront(element)
	return element.Value.(*entry[K, V]).value, true //nolint:forcetypeassert // the list holds nothing else
}

// put adds or replaces a value and forgets the oldest beyond the limits. A value
// heavier than the limit is forgotten at once.
func (r *lru[K, V]) put(key K, value V, weight int) {
	r.remove(key)
	r.entries[key] = r.order.PushFront(&entry[K, V]{key, value, weight})
	r.weight += weight
	for r.order.Len() > r.maxCount || r.weight > r.maxWeight {
		r.remove(r.order.Back().Value.(*entry[K, V]).key) //nolint:forcetypeassert // as above
	}
}

func (r *lru[K, V]) remove(key K) {
	element, ok := r.entries[key]
	if !ok {
		return
	}
	r.weight -= element.Value.(*entry[K, V]).weight //nolint:forcetypeassert // as above
	r.order.Remove(element)
	delete(r.entries, key)
}
