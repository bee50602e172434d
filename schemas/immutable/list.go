// Package immutable holds collections of which every version stays what it was. What a
// session remembers grows with the session, and each decision makes a new version of
// it: versions share what they hold, so that the next one costs little.
package immutable

import (
	"iter"
	"slices"
)

// A List grows at its end and shrinks at its front. Every version of it stays what
// it was, and shares what it holds with the others, so that the next one costs
// little however long it is.
type List[T any] struct {
	blocks [][]T // listBlock each, never changed once they are here
	tail   []T   // fewer than listBlock, never changed
	gone   int   // of the front of what is there
}

// listBlock is how many elements are copied at most when one is changed or added.
const listBlock = 128

// ListOf returns a list of elements that nobody changes any more.
func ListOf[T any](elements []T) (l List[T]) {
	for len(elements) >= listBlock {
		l.blocks, elements = append(l.blocks, elements[:listBlock:listBlock]), elements[listBlock:]
	}
	l.tail = slices.Clip(elements)
	return l
}

// Len counts the elements.
func (l List[T]) Len() int { return len(l.blocks)*listBlock + len(l.tail) - l.gone }

// At returns the element at a place; 0 is the first.
func (l List[T]) At(place int) T {
	place += l.gone
	if block := place / listBlock; block < len(l.blocks) {
		return l.blocks[block][place%listBlock]
	}
	return l.tail[place-len(l.blocks)*listBlock]
}

// With returns the list with one element more.
func (l List[T]) With(element T) List[T] {
	l.tail = slices.Concat(l.tail, []T{element})
	if len(l.tail) == listBlock {
		l.blocks, l.tail = append(slices.Clip(l.blocks), l.tail), nil
	}
	return l
}

// Set returns the list with another element at a place.
func (l List[T]) Set(place int, element T) List[T] {
	place += l.gone
	if block := place / listBlock; block < len(l.blocks) {
		l.blocks = slices.Clone(l.blocks)
		l.blocks[block] = slices.Clone(l.blocks[block])
		l.blocks[block][place%listBlock] = element
		return l
	}
	l.tail = slices.Clone(l.tail)
	l.tail[place-len(l.blocks)*listBlock] = element
	return l
}

// Rest returns the list without its first element.
func (l List[T]) Rest() List[T] {
	switch l.gone++; {
	case l.Len() == 0:
		return List[T]{}
	case l.gone == listBlock:
		l.blocks, l.gone = l.blocks[1:], 0
	}
	return l
}

// Index returns the place of the first element that is equal to one, or -1.
func Index[T comparable](l List[T], element T) int {
	skip := l.gone
	for number, block := range l.blocks {
		if place := slices.Index(block[skip:], element); place >= 0 {
			return number*listBlock + skip + place - l.gone
		}
		skip = 0
	}
	if place := slices.Index(l.tail[skip:], element); place >= 0 {
		return len(l.blocks)*listBlock + skip + place - l.gone
	}
	return -1
}

// All yields the elements in order.
func (l List[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		skip := l.gone
		for _, block := range l.blocks {
			for _, element := range block[skip:] {
				if !yield(element) {
					return
				}
			}
			skip = 0
		}
		for _, element := range l.tail[skip:] {
			if !yield(element) {
				return
			}
		}
	}
}
